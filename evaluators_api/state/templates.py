"""Values in terms of the parameters: where a parameter's value stands in a text, its name stands in the
template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

_SHORT = 200
"""Characters of texts that are kept with their templates."""
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}:]+)(?::(name|stem))?\}")


def templated(text: str, parameters: Mapping[str, str]) -> str:
    """`text` with every whole-word occurrence of a parameter's value as `{parameter}`; braces of the text are
    doubled.

    For a path its file name is written `{parameter:name}` and its name without suffix `{parameter:stem}`.

    >>> templated("Moved a.csv to {b}", {"csv_path": "Documents/a.csv"})
    'Moved {csv_path:name} to {{b}}'
    >>> templated("10:30 at 10", {"hour": "10"})
    '10:30 at {hour}'
    """
    if not text:
        return ""
    known = tuple(sorted(parameters.items()))
    return _templated(text, known) if len(text) <= _SHORT else _templated.__wrapped__(text, known)


@lru_cache(maxsize=16_384)
def _templated(text: str, parameters: tuple[tuple[str, str], ...]) -> str:
    pattern, names = _pattern(parameters)
    parts = []
    position = 0
    for match in pattern.finditer(text) if pattern is not None else ():
        parts += [_doubled(text[position : match.start()]), names[match.group()]]
        position = match.end()
    return "".join([*parts, _doubled(text[position:])])


def filled(template: str, parameters: Mapping[str, str]) -> str:
    """The text that `template` stands for with these values; a parameter without a value stays as it is.

    >>> filled("Moved {csv_path:name} to {{b}}", {"csv_path": "Documents/z.csv"})
    'Moved z.csv to {b}'
    """

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return match.group()[0]
        if name not in parameters:
            return match.group()
        path = PurePosixPath(parameters[name])
        part = match.group(2)
        return path.name if part == "name" else path.stem if part == "stem" else parameters[name]

    return _FIELD.sub(value, template)


@lru_cache(maxsize=256)
def _pattern(parameters: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    names: dict[str, str] = {}
    for name, value in parameters:
        names.setdefault(value, f"{{{name}}}")
    for name, value in parameters:
        path = PurePosixPath(value)
        if path.suffix or "/" in value:
            names.setdefault(path.name, f"{{{name}:name}}")
            names.setdefault(path.stem, f"{{{name}:stem}}")
    names = {value: name for value, name in names.items() if value.strip()}
    if not names:
        return None, names
    values = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(_bounded, values))), names


def _bounded(value: str) -> str:
    before = r"(?<![\w])(?<!\d[.,:])" if value[0].isalnum() else ""
    after = r"(?![\w])(?![.,:]\d)" if value[-1].isalnum() else ""
    return before + re.escape(value) + after


def _doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
