r"""Functions on path names for generated code, for paths of both systems.

They stand in for `os.path`, which inside the sandbox knows POSIX only: `os.path.basename("C:\\a\\b")` would
silently be the whole text. They work on text alone and never ask the host.
"""

import ntpath
import posixpath
from collections.abc import Callable
from dataclasses import dataclass

from taskloom.evaluators_api.checks.declaration import LONGEST_ARGUMENT
from taskloom.evaluators_api.errors import CheckMisusedError
from taskloom.evaluators_api.evidence.sandbox_paths import is_windows_path


@dataclass(frozen=True, slots=True)
class PathFunction:
    """One function on path names."""

    stands_for: str
    """The function of `os.path`."""
    stub: str
    """Its declaration after the opening bracket, up to the colon."""

    def __call__(self, *paths: object, **named: object) -> str | tuple[str, ...]:
        """Apply it.

        Raises:
            CheckMisusedError: an argument is not text, is too long, or was given by name.
        """
        if named or not paths or len(paths) > 16 or (self.stands_for != "join" and len(paths) > 1):
            raise CheckMisusedError(f"os.path.{self.stands_for} takes paths by position.")
        texts = [path for path in paths if isinstance(path, str) and len(path) <= LONGEST_ARGUMENT]
        if len(texts) != len(paths):
            raise CheckMisusedError(
                f"os.path.{self.stands_for} takes texts of at most {LONGEST_ARGUMENT} characters."
            )
        flavour = ntpath if any(is_windows_path(text) for text in texts) else posixpath
        function: Callable[..., str | tuple[str, ...]] = getattr(flavour, self.stands_for)
        return function(*texts)


PATH_FUNCTIONS = {
    f"path_{name}": PathFunction(name, stub)
    for name, stub in (
        ("basename", "path: str) -> str"),
        ("dirname", "path: str) -> str"),
        ("join", "path: str, *paths: str) -> str"),
        ("normpath", "path: str) -> str"),
        ("split", "path: str) -> tuple[str, str]"),
        ("splitext", "path: str) -> tuple[str, str]"),
    )
}
"""The functions by the name that rewritten code calls."""
