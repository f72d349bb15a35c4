"""Whether an instruction states a value: literally, in another form, or with a slip that a grader would not
forgive; and which names of an evaluator it never states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Final, Literal

from pydantic import JsonValue

from taskloom.taskgraph.text_folding import fold_text

Mention = Literal["said", "misspelt", "contradicted", "absent"]
"""`said`: as it stands, or written otherwise; `misspelt`: a word nearly the same; `contradicted`: nearly the
same where every character counts (a path, an address, a number); `absent`: nothing like it."""
_WORDS: Final = re.compile(r"[^\s'\"“”‘’,;]+")
_ALIKE: Final = 0.85
_SHORTEST_COMPARED: Final = 6
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        start=1,
    )
}
_MONTH: Final = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES: Final = (
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},? (?P<year>\d{{4}})\b"),
    re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b"),
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})\b"),
)
_EXACT: Final = re.compile(r"\d|@|/|\\|\.\w{1,5}$")
_SHEET: Final = re.compile(r'"[RE][NI]([^\W\d][^"]*)"')
"""How rules name a sheet of the result or of the expected file."""
_FIRST_SHEET: Final = "sheet1"
"""What a new workbook calls its sheet: nobody has to say it."""


def mention_of(value: str, instruction: str) -> tuple[Mention, str]:
    """How an instruction mentions a value, and the words it uses for it.

    >>> mention_of("05 June 2024", "Add a task on June 5th 2024.")[0]
    'said'
    >>> mention_of("/home/a/Desktop/target.odt", "Save it as target.opt on the Desktop.")
    ('contradicted', 'target.opt')
    >>> mention_of("Columbia", "Look for a city in Colombia.")
    ('misspelt', 'colombia')
    """
    wanted, said = fold_text(value), fold_text(instruction)
    if not wanted or wanted in said or _letters(wanted) in _letters(said):
        return "said", ""
    dates = _dates(wanted)
    if dates and dates <= _dates(said):
        return "said", ""
    words = sorted({word.strip(".:!?()") for word in _WORDS.findall(said)})
    if _is_path(wanted):
        name = PurePosixPath(wanted).name
        if name in words or any(word.endswith(f"/{name}") for word in words):
            return "said", ""
        near = next(
            (word for word in words if _alike(word, wanted) or _alike(PurePosixPath(word).name, name)), ""
        )
        return ("contradicted", near) if near else ("absent", "")
    near = next((word for word in words if _alike(word, wanted)), "")
    if not near:
        return "absent", ""
    return ("contradicted" if _EXACT.search(wanted) else "misspelt"), near


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum()) or "\0"


def _is_path(text: str) -> bool:
    return "/" in text and " " not in text and "://" not in text


def _dates(text: str) -> set[tuple[int, int, int]]:
    found: set[tuple[int, int, int]] = set()
    for pattern in _DATES:
        for match in pattern.finditer(text):
            month = match["month"]
            number = int(month) if month.isdigit() else _MONTHS[month[:3]]
            found.add((int(match["year"]), number, int(match["day"])))
    return found


def _alike(word: str, wanted: str) -> bool:
    if min(len(word), len(wanted)) < _SHORTEST_COMPARED or abs(len(word) - len(wanted)) > 5:
        return False
    return SequenceMatcher(None, word, wanted, autojunk=False).ratio() >= _ALIKE


def unsaid_sheets(content: Mapping[str, JsonValue]) -> list[str]:
    """Sheets that the evaluator looks for by name, and that neither the instruction nor the setup names.

    >>> unsaid_sheets({"instruction": "Copy it to a new sheet.", "evaluator": {"options": ["RNTotals"]}})
    ['Totals']
    """
    named = _SHEET.findall(json.dumps(content.get("evaluator")))
    return [
        name
        for name in dict.fromkeys(named)
        if _folded_letters(name) != _FIRST_SHEET and not _is_said(name, content)
    ]


def unsaid_files(content: Mapping[str, JsonValue]) -> list[str]:
    """Files that must be made under a name that stands nowhere else in the task; settings files apart."""
    evaluator = content.get("evaluator")
    results = evaluator.get("result") if isinstance(evaluator, dict) else None
    made_after = evaluator.get("postconfig") if isinstance(evaluator, dict) else None
    known = _folded_letters(json.dumps(made_after))
    found = [
        path
        for result in (results if isinstance(results, list) else [results])
        if isinstance(result, dict) and result.get("type") == "vm_file"
        for path in _texts(result.get("path"))
        if "/." not in path
    ]
    names = {path: PurePosixPath(path).stem for path in found}
    return [
        path
        for path, name in names.items()
        if _folded_letters(name) and _folded_letters(name) not in known and not _is_said(name, content)
    ]


def _is_said(name: str, content: Mapping[str, JsonValue]) -> bool:
    given = json.dumps([content.get("instruction"), content.get("config")], ensure_ascii=False)
    return _folded_letters(name) in _folded_letters(given)


def _folded_letters(text: str) -> str:
    return "".join(character for character in fold_text(text) if character.isalnum())


def _texts(value: JsonValue) -> Iterator[str]:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            yield part
