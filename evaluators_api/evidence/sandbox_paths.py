r"""Normalises the paths in evaluation functions to those of evidence: relative to the sandbox home, with
forward slashes. Models also write `~/…`, `/home/user/…`, `C:\Users\user\…` and `file://` addresses.

Also holds the functions on path names that generated code calls. They work on text alone, for paths of both
systems: `os.path` in the sandbox knows only POSIX and takes "C:\\a\\b" for one name."""

import ntpath
import posixpath
import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import unquote

from taskloom.evaluators_api.errors import CheckMisusedError
from taskloom.taskgraph.text_folding import composed

_HOME = re.compile(
    r"^(?:~|\$home|\$\{home\}|%userprofile%|/home/[^/]+|/users/[^/]+|[a-z]:/users/[^/]+)(?:/|$)",
    re.IGNORECASE,
)
_DRIVE = re.compile(r"^[a-z]:", re.IGNORECASE)
LONGEST_PATH = 4_096
"""Maximum characters of a path; systems allow no more, so longer ones name nothing."""
LONGEST_ARGUMENT = 10_000
"""Maximum characters in an argument of a check or a path function."""
_LONGEST_CACHED = 256
PATH_FUNCTIONS = {
    "path_basename": "path: str) -> str",
    "path_dirname": "path: str) -> str",
    "path_join": "path: str, *paths: str) -> str",
    "path_normpath": "path: str) -> str",
    "path_split": "path: str) -> tuple[str, str]",
    "path_splitext": "path: str) -> tuple[str, str]",
}
"""The declaration from the parameters to the return type, by the name that rewritten code calls."""


def relative_to_home(path: str) -> str | None:
    r"""The path relative to the sandbox home, empty for the home itself; None for a path outside it.

    >>> relative_to_home("~/Documents/a.csv"), relative_to_home("/home/user/a.csv"), relative_to_home("./b//c/../d.txt")
    ('Documents/a.csv', 'a.csv', 'b/d.txt')
    >>> relative_to_home("C:\\Users\\user\\Desktop\\images\\cat.jpg"), relative_to_home("/etc/passwd"), relative_to_home("../x")
    ('Desktop/images/cat.jpg', None, None)
    """  # noqa: E501
    if len(path) <= _LONGEST_CACHED:
        return _cached_relative_to_home(path)
    return _relative_to_home(path) if len(path) <= LONGEST_PATH else None


def _relative_to_home(path: str) -> str | None:
    text = composed(path).strip().strip("\"'")
    if text.lower().startswith("file://"):
        text = unquote(text[7:])
        text = text[1:] if _DRIVE.match(text[1:]) else text
    text = text.replace("\\", "/")
    home = _HOME.match(text)
    if home:
        text = text[home.end() :]
    elif text.startswith("/") or _DRIVE.match(text):
        return None
    parts: list[str] = []
    for part in text.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


_cached_relative_to_home = lru_cache(maxsize=16_384)(_relative_to_home)


def is_windows_path(path: str) -> bool:
    r"""Whether `path` is written as on Windows, where upper and lower case are the same.

    >>> is_windows_path("C:/Users/user/a.txt"), is_windows_path("Documents\\a.txt"), is_windows_path("Documents/a.txt")
    (True, True, False)
    """  # noqa: E501
    return "\\" in path or _DRIVE.match(path.strip()) is not None


def last_part(path: str) -> str:
    r"""The last part of a POSIX or Windows path.

    >>> last_part("C:\\a\\b.txt"), last_part("a/b/"), last_part("b.txt")
    ('b.txt', 'b', 'b.txt')
    """
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def replaced_function(name: str) -> str:
    """The function that one of `PATH_FUNCTIONS` replaces, such as `os.path.join`."""
    return name.replace("path_", "os.path.", 1)


def apply_path_function(name: str, *paths: object, **named: object) -> str | tuple[str, ...]:
    """Call one of `PATH_FUNCTIONS`.

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
