"""What applications write for themselves and says nothing about a subtask: logs, locks, caches; times and
generated ids."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from taskloom.taskgraph.records.evidence import is_open_document

_SUFFIXES = frozenset(
    [
        ".crdownload",
        ".db-journal",
        ".db-shm",
        ".db-wal",
        ".journal",
        ".lock",
        ".log",
        ".part",
        ".pid",
        ".pyc",
        ".shm",
        ".sock",
        ".swp",
        ".tmp",
        ".wal",
    ]
)
_FOLDERS = frozenset(["__pycache__", ".cache", "cache", "caches", "crash", "log", "logs", "sessions", "tmp"])

_APPLICATIONS = ".applications"
_COPIES = frozenset([".backup", ".bak", ".old", ".orig"])
"""Inside the data of an application: copies that it keeps of its own files."""


_LOGS = frozenset(["log", "logs"])


def is_log(path: str) -> bool:
    """Whether a file of the user holds what a process says while it runs.

    >>> is_log("Logs/backup.log"), is_log("Documents/backup.log"), is_log(".applications/desk/logs/a.log")
    (True, False, False)
    """
    location = PurePosixPath(path.casefold())
    return (
        location.suffix == ".log" and location.parent.name in _LOGS and location.parts[:1] != (_APPLICATIONS,)
    )


@lru_cache(maxsize=8192)
def is_volatile(path: str) -> bool:
    """Whether a file is one that applications write for themselves.

    >>> is_volatile("state/app.db-wal"), is_volatile(".applications/x/logs/a.txt"), is_volatile("Logs/a.txt")
    (True, True, False)
    >>> is_volatile(".applications/x/.config.json"), is_volatile("Documents/.hidden"), is_volatile("Documents/a.bak")
    (True, False, False)
    """  # noqa: E501
    if is_log(path):
        return False
    location = PurePosixPath(path.casefold())
    if location.parts[:1] == (_APPLICATIONS,) and (
        location.name.startswith(".") or location.suffix in _COPIES
    ):
        return True
    folders = set(location.parts[:-1])
    own = any(part.startswith(".") or part.startswith("__") for part in location.parts[:-1])
    return bool(_SUFFIXES & set(location.suffixes[-1:])) or (own and bool(_FOLDERS & folders))


def is_passing_file(path: str) -> bool:
    """Whether a file is none that somebody could lose: applications write it for themselves, or it is only
    open."""
    return is_volatile(path) or is_open_document(path)


_TABLES = re.compile(
    r"sqlite_\w+|(?:\w+_)?(?:cache|caches|session|sessions)(?:_attribute|_data|_key)?|\w+_fts\w*",
    re.IGNORECASE,
)


def is_volatile_table(name: str) -> bool:
    """Whether a table of a database is one that the application or the database writes for itself.

    >>> [is_volatile_table(name) for name in ("cache", "session_attribute", "sqlite_sequence", "orders", "caches_of_gold")]
    [True, True, True, False, False]
    """  # noqa: E501
    return _TABLES.fullmatch(name) is not None


@lru_cache(maxsize=8192)
def steady_path(path: str) -> str:
    """`path` with `*` for each part that was generated, and for a folder named by how such a part begins.

    >>> steady_path("files/721/721956e86ec607066d8bf26a2c1c5c1b944383d3/8a9cbca2694537e15fc6fd1941def069935e4972.csv")
    'files/*/*/*.csv'
    >>> steady_path("Documents/a.csv")
    'Documents/a.csv'
    """  # noqa: E501
    parts = path.split("/")
    generated = [is_generated(PurePosixPath(part).stem) for part in parts]
    found = []
    for index, part in enumerate(parts):
        leads = index + 1 < len(parts) and generated[index + 1] and parts[index + 1].startswith(part)
        suffix = PurePosixPath(part).suffix if index == len(parts) - 1 else ""
        found.append(f"*{suffix}" if generated[index] or (leads and part) else part)
    return "/".join(found)


def is_passing(text: str) -> bool:
    """Whether a text on the screen tells a time, a count or a number that changes by itself, or nothing at
    all.

    >>> [is_passing(text) for text in ("pid 6, uptime 0:00:01", "Nov 22 10:09 AM", "running", "3:20", "Not started")]
    [True, True, False, True, False]
    """  # noqa: E501
    return any(character.isdigit() for character in text) or not any(map(str.isalpha, text))


_GENERATED = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d?:\d\d:\d\d\b|(?<![\d.])\d{10,17}(?!\d)"
    r"|\b(?:127\.0\.0\.1|localhost):\d+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{17,}|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,}\b"
)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,44}")


def is_generated(value: str) -> bool:
    """Whether a value looks like a time with its seconds or date, a hash, or a random id, rather than
    something a person entered.

    >>> [is_generated(text) for text in ("2026-11-22T08:15:19.669Z", "aqKdgXWaQoVxcgUtqEy7", "20261122081519669")]
    [True, True, True]
    >>> [is_generated(text) for text in ("2026-11-22", "Quarterly report", "1250.00", "meeting-notes-for-monday")]
    [False, False, False, False]
    """  # noqa: E501
    return _GENERATED.search(value) is not None or _is_token(value)


def _is_token(value: str) -> bool:
    return (
        _TOKEN.fullmatch(value) is not None
        and any(mark.isdigit() for mark in value)
        and any(mark.islower() for mark in value)
        and any(mark.isupper() for mark in value[1:])
    )


_IDENTITY = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,64}"
)


def is_identity(value: str) -> bool:
    """Whether a value is, as a whole, an id that an application made up at random, and no time.

    >>> [is_identity(text) for text in ("77477e76-115d-4399-88bf-af789df13e61", "aqKdgXWaQoVxcgUtqEy7", "d41d8cd98f00b204")]
    [True, True, True]
    >>> [is_identity(text) for text in ("1795402302", "2026-11-22T08:15:19.669Z", "Opening hours", "12")]
    [False, False, False, False]
    """  # noqa: E501
    return _IDENTITY.fullmatch(value.casefold()) is not None or _is_token(value)


_TIME = re.compile(r"1\d{9}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_NEVER = frozenset(["", "0", "0.0", "-1", "null", "none", "never", "false"])
_OF_ITSELF = frozenset(
    [
        "access",
        "accessed",
        "activity",
        "checked",
        "fetched",
        "last",
        "modified",
        "polled",
        "refreshed",
        "scanned",
        "seen",
        "sync",
        "synced",
        "touched",
        "updated",
        "viewed",
        "visit",
        "visited",
    ]
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def is_first_time(field: str, before: str, after: str) -> bool:
    """Whether an application noted when it last did something, where none was noted before.

    The name of the field must say so: an order that is closed has a time, too, where none was.

    >>> is_first_time("last_checked", "0", "1795402302"), is_first_time("closed_at", "null", "2026-11-22T08:15:19Z")
    (True, False)
    """  # noqa: E501
    words = {word.casefold() for word in _WORDS.findall(field)}
    noted = _TIME.fullmatch(after.strip()) is not None
    return noted and before.strip().casefold() in _NEVER and bool(words & _OF_ITSELF)


_APPOINTED = frozenset(
    [
        "begin",
        "begins",
        "deadline",
        "due",
        "end",
        "ends",
        "expires",
        "expiry",
        "planned",
        "scheduled",
        "start",
        "starts",
        "until",
    ]
)


def is_appointed(field: str) -> bool:
    """Whether the times in a field are set by people, to judge by its name, and not noted by the application.

    >>> is_appointed("due"), is_appointed("due_date"), is_appointed("changetime")
    (True, True, False)
    """
    return bool({word.casefold() for word in _WORDS.findall(field)} & _APPOINTED)
