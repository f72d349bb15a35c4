r"""Functions on path names for generated code, for paths of both systems, on text alone. They stand in for
`os.path`, which inside the sandbox knows POSIX only: `os.path.basename("C:\\a\\b")` would be the whole
text."""

import ntpath
import posixpath
from collections.abc import Callable

from taskloom.evaluators_api.checks.declaration import LONGEST_ARGUMENT
from taskloom.evaluators_api.errors import CheckMisusedError
from taskloom.evaluators_api.evidence.sandbox_paths import is_windows_path

PATH_FUNCTIONS = {
    "path_basename": "path: str) -> str",
    "path_dirname": "path: str) -> str",
    "path_join": "path: str, *paths: str) -> str",
    "path_normpath": "path: str) -> str",
    "path_split": "path: str) -> tuple[str, str]",
    "path_splitext": "path: str) -> tuple[str, str]",
}
"""By the name that rewritten code calls: the declaration after the opening bracket, up to the colon."""


def replaced_function(name: str) -> str:
    """The function that one of `PATH_FUNCTIONS` stands for: `os.path.join`."""
    return name.replace("path_", "os.path.", 1)


def apply_path_function(name: str, *paths: object, **named: object) -> str | tuple[str, ...]:
    """What one of `PATH_FUNCTIONS` says.

    Raises:
        CheckMisusedError: an argument is not text, is too long, or was given by name.
    """
    if named or not paths or len(paths) > 16 or (name != "path_join" and len(paths) > 1):
        raise CheckMisusedError(f"{replaced_function(name)} takes paths by position.")
    texts = [path for path in paths if isinstance(path, str) and len(path) <= LONGEST_ARGUMENT]
    if len(texts) != len(paths):
        raise CheckMisusedError(
            f"{replaced_function(name)} takes texts of at most {LONGEST_ARGUMENT} characters."
        )
    flavour = ntpath if any(is_windows_path(text) for text in texts) else posixpath
    function: Callable[..., str | tuple[str, ...]] = getattr(flavour, name.removeprefix("path_"))
    return function(*texts)
