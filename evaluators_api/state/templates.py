"""Templates: texts in which values of parameters are replaced by the names of the parameters."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from unicodedata import combining, normalize

_LONGEST_CACHED = 200
"""Maximum length, in characters, of texts whose templates are cached."""
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}:]+)(?::(name|stem|slug|slug_))?\}")
_PARAMETER = re.compile(r"\{(\w+)")
_SLUGS = {"slug": "-", "slug_": "_"}
_SHORTEST_SLUG = 3
_NOT_IN_WORDS = re.compile(r"[\W_]+")


def templated(text: str, parameters: Mapping[str, str]) -> str:
    """`text` with every whole-word occurrence of a parameter's value as `{parameter}`; its own braces are
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
    return _templated(text, known) if len(text) <= _LONGEST_CACHED else _templated.__wrapped__(text, known)


@lru_cache(maxsize=16_384)
def _templated(text: str, parameters: tuple[tuple[str, str], ...]) -> str:
    pattern, names = _pattern(parameters)
    parts = []
    position = 0
    for match in pattern.finditer(text) if pattern is not None else ():
        parts += [_escape_braces(text[position : match.start()]), names[match.group()]]
        position = match.end()
    return "".join([*parts, _escape_braces(text[position:])])


@lru_cache(maxsize=16_384)
def _with_slugs(template: str, parameters: tuple[tuple[str, str], ...]) -> str:
    present = parameters_named(template)
    slugs: dict[str, str] = {}
    for form, mark in _SLUGS.items():
        for name, value in parameters:
            text = slug(value, mark)
            if name not in present and len(text) >= _SHORTEST_SLUG and not text.replace(mark, "").isdecimal():
                slugs.setdefault(text, f"{{{name}:{form}}}")
    *folders, last = template.split("/")
    stem, dot, suffix = last.rpartition(".")
    last = slugs.get(last) or (slugs.get(stem, stem) + dot + suffix)
    return "/".join([*(slugs.get(part, part) for part in folders), last])


def templated_path(path: str, parameters: Mapping[str, str]) -> str:
    """`path` as a template in which the name of a folder or file may also be the slug of a value that is not
    in the path itself: `{parameter:slug}`, or `{parameter:slug_}` with underscores.

    >>> templated_path("cards/holiday-plans/a.md", {"title": "Holiday plans"})
    'cards/{title:slug}/a.md'
    >>> templated_path("Holiday/holiday.md", {"title": "Holiday"})
    '{title}/holiday.md'
    """
    return _with_slugs(templated(path, parameters), tuple(sorted(parameters.items())))


def slug(value: str, mark: str = "-") -> str:
    """The name that applications give to the folder or file of `value`: in lower case, without accents, with
    `mark` for each run of characters other than letters and digits.

    >>> slug("Été: Holiday plans!"), slug("Holiday plans", "_"), slug("?!")
    ('ete-holiday-plans', 'holiday_plans', '')
    """
    plain = "".join(part for part in normalize("NFKD", value.casefold()) if not combining(part))
    return _NOT_IN_WORDS.sub(mark, plain).strip(mark)


def filled(template: str, parameters: Mapping[str, str]) -> str:
    """The text of `template` with these values; a parameter without a value stays as it is.

    >>> filled("Moved {csv_path:name} to {{b}}", {"csv_path": "Documents/z.csv"})
    'Moved z.csv to {b}'
    """

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return match.group()[0]
        if name not in parameters:
            return match.group()
        path, form = PurePosixPath(parameters[name]), match.group(2)
        if form in _SLUGS:
            return slug(parameters[name], _SLUGS[form])
        return path.name if form == "name" else path.stem if form == "stem" else parameters[name]

    return _FIELD.sub(value, template)


def names_parameter(template: str | None) -> bool:
    """Whether a template contains a parameter.

    >>> names_parameter("{{a} {b}"), names_parameter("{{a}}"), names_parameter(None)
    (True, False, False)
    """
    return "{" in (template or "").replace("{{", "")


def parameters_named(*templates: str | None) -> set[str]:
    """The parameters in `templates`.

    >>> sorted(parameters_named("{{a}} {{{csv_path:name}}}", None, "{hour}"))
    ['csv_path', 'hour']
    """
    return {name for text in templates for name in _PARAMETER.findall((text or "").replace("{{", ""))}


def names_of(parameters: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What replaces each value in a template; the name of a path, with and without suffix, counts as well.

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
    return re.compile("|".join(map(_as_whole_word, values))), names


def _as_whole_word(value: str) -> str:
    before = r"(?<![\w])(?<!\d[.,:])" if value[0].isalnum() else ""
    after = r"(?![\w])(?![.,:]\d)" if value[-1].isalnum() else ""
    return before + re.escape(value) + after


def _escape_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


# Recognises values that applications generate. This is a guess, used to pair values and to read addresses; it
# never decides whether a change is noise, which is measured (`noise`).


@lru_cache(maxsize=8192)
def steady_path(path: str) -> str:
    """`path` with `*` for each generated part, for a folder named by the first characters of such a part, and
    for a folder named by the first characters of a digest that continues in such a part.

    >>> steady_path("files/721/721956e86ec607066d8bf26a2c1c5c1b944383d3/8a9cbca2694537e15fc6fd1941def069935e4972.csv")
    'files/*/*/*.csv'
    >>> steady_path("repository/objects/1c/c6617a16f5bc8c7052872cad42efda1e5dc0fd")
    'repository/objects/*/*'
    >>> steady_path("Documents/a.csv")
    'Documents/a.csv'
    """  # noqa: E501
    parts = path.split("/")
    generated = [is_generated(PurePosixPath(part).stem) for part in parts]
    for last in [index for index, is_generated_part in enumerate(generated) if is_generated_part]:
        for first in range(_digest_start(parts, last), last):
            generated[first] = True
    for index, part in enumerate(parts[:-1]):
        is_prefix = part and generated[index + 1] and parts[index + 1].startswith(part)
        parts[index] = "*" if generated[index] or is_prefix else part
    parts[-1] = f"*{PurePosixPath(parts[-1]).suffix}" if generated[-1] else parts[-1]
    return "/".join(parts)


def _digest_start(parts: list[str], last: int) -> int:
    """Index of the part with the start of the digest that ends in the part at `last`."""
    digest = PurePosixPath(parts[last]).stem
    for first in range(last - 1, -1, -1):
        digest = parts[first] + digest
        if _HEX_DIGITS.fullmatch(digest) is None or len(digest) > max(_DIGEST_LENGTHS):
            break
        if len(digest) in _DIGEST_LENGTHS:
            return first
    return last


_HEX_DIGITS = re.compile("[0-9a-f]+")
_DIGEST_LENGTHS = (32, 40, 56, 64, 96, 128)
"""Lengths of digests in digits, from MD5 and SHA-1 to SHA-512."""
_GENERATED = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d?:\d\d:\d\d\b|(?<![\d.])\d{10,17}(?!\d)"
    r"|\b(?:127\.0\.0\.1|localhost):\d+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{17,}|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,}\b"
)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,44}")
_ALTERNATION = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_DURATION = re.compile(r"P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?")
_FEWEST_ALTERNATIONS = 5
"""Minimum number of changes between letters and digits in a single-case id, such as a ULID."""


def is_generated(value: str) -> bool:
    """Whether a value looks like a timestamp, a hash or a random id rather than something a person entered.

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
    if _TOKEN.fullmatch(value) is None or not any(map(str.isdigit, value)):
        return False
    if any(map(str.islower, value)) and any(map(str.isupper, value[1:])):
        return True
    alternates = value.isalnum() and len(_ALTERNATION.findall(value)) >= _FEWEST_ALTERNATIONS
    return alternates and _DURATION.fullmatch(value) is None
