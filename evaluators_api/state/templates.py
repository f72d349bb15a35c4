"""Values in terms of the parameters: where a value stands in a text, its name stands in the template."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from unicodedata import combining, normalize

_SHORT = 200
"""Characters of texts that are kept with their templates."""
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}:]+)(?::(name|stem|slug|slug_))?\}")
_NAMED = re.compile(r"\{(\w+)")
_SLUGS = {"slug": "-", "slug_": "_"}
_SHORTEST_SLUG = 3
_NO_WORD = re.compile(r"[\W_]+")


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


@lru_cache(maxsize=16_384)
def _with_slugs(template: str, parameters: tuple[tuple[str, str], ...]) -> str:
    told = parameters_named(template)
    slugs: dict[str, str] = {}
    for form, mark in _SLUGS.items():
        for name, value in parameters:
            made = slug(value, mark)
            if name not in told and len(made) >= _SHORTEST_SLUG and not made.replace(mark, "").isdecimal():
                slugs.setdefault(made, f"{{{name}:{form}}}")
    *folders, last = template.split("/")
    stem, dot, suffix = last.rpartition(".")
    last = slugs.get(last) or (slugs.get(stem, stem) + dot + suffix)
    return "/".join([*(slugs.get(part, part) for part in folders), last])


def templated_path(path: str, parameters: Mapping[str, str]) -> str:
    """`path` as `templated` writes it, in which a folder or file may also be called by the slug of a value
    that stands nowhere in the path: `{parameter:slug}`, or `{parameter:slug_}` with underscores.

    >>> templated_path("cards/holiday-plans/a.md", {"title": "Holiday plans"})
    'cards/{title:slug}/a.md'
    >>> templated_path("Holiday/holiday.md", {"title": "Holiday"})
    '{title}/holiday.md'
    """
    return _with_slugs(templated(path, parameters), tuple(sorted(parameters.items())))


def slug(value: str, mark: str = "-") -> str:
    """What applications call the folder or file of something called `value`: in lower case, without accents,
    with `mark` for each run of characters that are neither letters nor digits.

    >>> slug("Été: Holiday plans!"), slug("Holiday plans", "_"), slug("?!")
    ('ete-holiday-plans', 'holiday_plans', '')
    """
    plain = "".join(part for part in normalize("NFKD", value.casefold()) if not combining(part))
    return _NO_WORD.sub(mark, plain).strip(mark)


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
        path, part = PurePosixPath(parameters[name]), match.group(2)
        if part in _SLUGS:
            return slug(parameters[name], _SLUGS[part])
        return path.name if part == "name" else path.stem if part == "stem" else parameters[name]

    return _FIELD.sub(value, template)


def names_parameter(template: str | None) -> bool:
    """Whether a parameter stands in a template.

    >>> names_parameter("{{a} {b}"), names_parameter("{{a}}"), names_parameter(None)
    (True, False, False)
    """
    return "{" in (template or "").replace("{{", "")


def parameters_named(*templates: str | None) -> set[str]:
    """The parameters that stand in `templates`.

    >>> sorted(parameters_named("{{a}} {{{csv_path:name}}}", None, "{hour}"))
    ['csv_path', 'hour']
    """
    return {name for text in templates for name in _NAMED.findall((text or "").replace("{{", ""))}


def names_of(parameters: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What stands for each value in a template; a path also has its name, with suffix and without.

    >>> names_of([("csv_path", "Documents/a.csv")])
    {'Documents/a.csv': '{csv_path}', 'a.csv': '{csv_path:name}', 'a': '{csv_path:stem}'}
    """
    parameters = tuple(parameters)
    names: dict[str, str] = {}
    for name, value in parameters:
        names.setdefault(value, f"{{{name}}}")
    for name, value in parameters:
        path = PurePosixPath(value)
        if path.suffix or "/" in value:
            names.setdefault(path.name, f"{{{name}:name}}")
            names.setdefault(path.stem, f"{{{name}:stem}}")
    return {value: name for value, name in names.items() if value.strip()}


@lru_cache(maxsize=256)
def _pattern(parameters: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    names = names_of(parameters)
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


# How values look that applications make up: a guess, for pairing what belongs together and for reading
# addresses. It never decides that a change is none: that is measured (`noise`).


@lru_cache(maxsize=8192)
def steady_path(path: str) -> str:
    """`path` with `*` for each part that was generated, and for a folder named by how such a part begins, or
    that tells the beginning of a digest of which such a part is the rest.

    >>> steady_path("files/721/721956e86ec607066d8bf26a2c1c5c1b944383d3/8a9cbca2694537e15fc6fd1941def069935e4972.csv")
    'files/*/*/*.csv'
    >>> steady_path("repository/objects/1c/c6617a16f5bc8c7052872cad42efda1e5dc0fd")
    'repository/objects/*/*'
    >>> steady_path("Documents/a.csv")
    'Documents/a.csv'
    """  # noqa: E501
    parts = path.split("/")
    generated = [is_generated(PurePosixPath(part).stem) for part in parts]
    for last in [index for index, made in enumerate(generated) if made]:
        for first in range(_beginning(parts, last), last):
            generated[first] = True
    for index, part in enumerate(parts[:-1]):
        leads = part and generated[index + 1] and parts[index + 1].startswith(part)
        parts[index] = "*" if generated[index] or leads else part
    parts[-1] = f"*{PurePosixPath(parts[-1]).suffix}" if generated[-1] else parts[-1]
    return "/".join(parts)


def _beginning(parts: list[str], last: int) -> int:
    """Index of the part at which the digest begins of which the part at `last` is the end."""
    digest = PurePosixPath(parts[last]).stem
    for first in range(last - 1, -1, -1):
        digest = parts[first] + digest
        if _DIGITS.fullmatch(digest) is None or len(digest) > max(_DIGEST_LENGTHS):
            break
        if len(digest) in _DIGEST_LENGTHS:
            return first
    return last


_DIGITS = re.compile("[0-9a-f]+")
_DIGEST_LENGTHS = (32, 40, 56, 64, 96, 128)
"""Digits of digests, from MD5 and SHA-1 to SHA-512."""
_GENERATED = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d?:\d\d:\d\d\b|(?<![\d.])\d{10,17}(?!\d)"
    r"|\b(?:127\.0\.0\.1|localhost):\d+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{17,}|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,}\b"
)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,44}")
_TURN = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_DURATION = re.compile(r"P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?")
_LEAST_TURNS = 5
"""How often letters and digits take turns in an id of one case, such as a ULID, at least."""


def is_generated(value: str) -> bool:
    """Whether a value looks like a time with its seconds or date, a hash, or a random id, rather than
    something a person entered.

    >>> [is_generated(text) for text in ("2026-11-22T08:15:19.669Z", "aqKdgXWaQoVxcgUtqEy7", "20261122081519669")]
    [True, True, True]
    >>> [is_generated(text) for text in ("2026-11-22", "Quarterly report", "1250.00", "meeting-notes-for-monday")]
    [False, False, False, False]
    >>> is_generated("01M8E65S421SBW10Q6YV1MAT7P"), is_generated("20261122T081519"), is_generated("INVOICE2026NR0012")
    (True, False, False)
    >>> is_generated("P1Y2M10DT2H30M15S")
    False
    """  # noqa: E501
    return _GENERATED.search(value) is not None or _is_token(value)


def _is_token(value: str) -> bool:
    if _TOKEN.fullmatch(value) is None or not any(mark.isdigit() for mark in value):
        return False
    if any(mark.islower() for mark in value) and any(mark.isupper() for mark in value[1:]):
        return True
    turns = value.isalnum() and len(_TURN.findall(value)) >= _LEAST_TURNS
    return turns and _DURATION.fullmatch(value) is None
