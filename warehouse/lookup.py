"""Export and import formats by name; a format is a module with `write` or `read`, or a function of the
module `table`."""

from taskloom.resources.plugins import PluginKind
from taskloom.warehouse.errors import UnknownFormatError

EXPORTS: PluginKind[object] = PluginKind(
    "export format",
    UnknownFormatError,
    folder="taskloom.warehouse.exports",
    group="taskloom.exports",
    needs=("write",),
    table="taskloom.warehouse.exporting.training_records",
    functions=("grounding", "openai_chat", "preference_pairs", "sharegpt", "verifiers", "web_dataset"),
)
"""`write(source, folder, options)`; see `taskloom.warehouse.exporting.exporting`."""
IMPORTS: PluginKind[object] = PluginKind(
    "import format",
    UnknownFormatError,
    folder="taskloom.warehouse.imports",
    group="taskloom.imports",
    needs=("read",),
    table="taskloom.warehouse.importing.task_lists",
    functions=(
        "cua_gym",
        "cua_world",
        "harbor",
        "osuniverse",
        "osworld",
        "web_arena",
        "web_voyager",
        "windows_agent_arena",
        "work_arena",
    ),
)
"""`read(path)`; see `taskloom.warehouse.importing.importing`."""
