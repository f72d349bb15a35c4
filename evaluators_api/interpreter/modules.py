"""Modules that generated code may import, and those whose uses are rewritten."""

MODULES = frozenset(
    {
        "collections",
        "dataclasses",
        "datetime",
        "functools",
        "itertools",
        "json",
        "math",
        "random",
        "re",
        "time",
        "typing",
    }
)
"""Modules that generated code may import."""
REWRITTEN_MODULES = frozenset({"os", "os.path", "ntpath", "posixpath", "pathlib", "logging"})
"""Modules whose uses are rewritten; what is left of them afterwards is refused."""
