"""WindowsAgentArena: `evaluation_examples_windows/examples/<domain>/<id>.json`, in OSWorld's layout.

A task is one subtask. Its metrics are those of WindowsAgentArena, which has some that OSWorld lacks.
"""

from pathlib import Path

from taskloom.warehouse.importing.items import Records
from taskloom.warehouse.imports.osworld import read_collection


def read(path: Path) -> Records:
    """The tasks of a file, of a domain's folder, or of the whole collection."""
    return read_collection(path, "windows_agent_arena")
