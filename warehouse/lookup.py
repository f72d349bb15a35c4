"""Export and import formats, found by name; a format is a module with `write` or `read`."""

from taskloom.resources.plugins import PluginKind
from taskloom.warehouse.errors import UnknownFormatError

EXPORTS: PluginKind[object] = PluginKind(
    "export format",
    UnknownFormatError,
    folder="taskloom.warehouse.exports",
    group="taskloom.exports",
    needs=("write",),
    table="taskloom.warehouse.exporting.training_records",
)
"""`write(source, folder, options)`; see `taskloom.warehouse.exporting.exporting`."""
IMPORTS: PluginKind[object] = PluginKind(
    "import format",
    UnknownFormatError,
    folder="taskloom.warehouse.imports",
    group="taskloom.imports",
    needs=("read",),
    table="taskloom.warehouse.importing.task_lists",
)
"""`read(path)`; see `taskloom.warehouse.importing.importing`."""
