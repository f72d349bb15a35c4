"""Precision and recall of the audit's errors, on labelled tasks in CRAB's layout.

Each case is made by hand: a task that is fine however it looks, or one with a defect that makes it unsolvable
or ungradable. An error on a fine task, or none on a defective one, is a mistake.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.run import Figure
from taskloom.warehouse.importing.audit import audit_reading
from taskloom.warehouse.importing.importing import survey_import

Part = tuple[str, dict[str, str], str | None]
"""A subtask: its program, its values, what it makes."""


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled task."""

    name: str
    """What is special about it."""
    defective: bool
    """Whether nobody can solve or grade it."""
    text: str
    """Its instruction."""
    parts: tuple[Part, ...]
    """Its subtasks, each after the one before."""


_FIND: Final = "find-city"
_WRITE: Final = "write-note"
CASES: Final = (
    Case("plain", False, "Write 'milk' into a note.", ((_WRITE, {"content": "milk"}, None),)),
    Case("other case", False, "Write 'MILK' into a note.", ((_WRITE, {"content": "milk"}, None),)),
    Case(
        "value made by an earlier subtask",
        False,
        "Find the city of postal code 75001 in France, then write it into a note.",
        ((_FIND, {"number": "75001", "country": "France"}, "Paris"), (_WRITE, {"content": "Paris"}, None)),
    ),
    Case(
        "value made two subtasks earlier",
        False,
        "Look up the address of Ann, open a note, and write the address into it.",
        (
            ("look-up", {"name": "Ann"}, "ann@example.org"),
            ("open-note", {}, "a note"),
            (_WRITE, {"content": "ann@example.org"}, None),
        ),
    ),
    Case(
        "value an undescribed subtask finds",
        False,
        "Read the newest mail and write its subject into a note.",
        (("read-mail", {}, None), (_WRITE, {"content": "Lunch on Friday"}, None)),
    ),
    Case(
        "date in other words",
        False,
        "Add a task on June 5th, 2024.",
        (("add", {"date": "05 June 2024"}, None),),
    ),
    Case(
        "date with a comma", False, "What is on 15 June, 2024?", (("read", {"date": "15 June 2024"}, None),)
    ),
    Case("date in numbers", False, "What is on 15 June 2024?", (("read", {"date": "2024-06-15"}, None),)),
    Case("number with a dash", False, "Find the city of 1010021.", ((_FIND, {"number": "101-0021"}, None),)),
    Case("number with blanks", False, "Call 040 55 89.", (("call", {"number": "040 5589"}, None),)),
    Case("inflected word", False, "Find the city in Germany.", ((_FIND, {"country": "German"}, None),)),
    Case(
        "name misspelt on one side",
        False,
        "Find a city in Colombia.",
        ((_FIND, {"country": "Columbia"}, None),),
    ),
    Case(
        "path told in pieces",
        False,
        "Save it as a file named 'list.txt' on the Desktop.",
        (("save", {"file_path": "/home/user/Desktop/list.txt"}, None),),
    ),
    Case(
        "path under the home folder",
        False,
        "Print ~/Desktop/list.txt.",
        (("print", {"file_path": "/home/user/Desktop/list.txt"}, None),),
    ),
    Case("no values", False, "Turn on the light.", (("light", {}, None),)),
    Case(
        "code in braces in a quotation",
        False,
        "Type '{}' into the editor.",
        (("type", {"text": "{}"}, None),),
    ),
    Case(
        "two parts",
        False,
        "Write 'a' into a note and 'b' into a mail.",
        ((_WRITE, {"content": "a"}, None), ("mail", {"content": "b"}, None)),
    ),
    Case("placeholder", True, 'Add the contact "{name}".', (("add", {"name": "John"}, None),)),
    Case("two placeholders", True, "Mail {mail} about <some_topic>.", (("mail", {"mail": "a@b.org"}, None),)),
    Case(
        "ending differs",
        True,
        "Save it as /home/user/target.opt.",
        (("save", {"file_path": "/home/user/target.odt"}, None),),
    ),
    Case(
        "further ending",
        True,
        "Find the date of Downloads/cat.jpg.",
        (("date", {"file_path": "Download/cat.jpg.webp"}, None),),
    ),
    Case(
        "address differs",
        True,
        "Mail to crabb@example.org.",
        (("mail", {"mail": "crabbb@example.org"}, None),),
    ),
    Case(
        "number differs by one digit", True, "Call 0405589113.", (("call", {"number": "0405589131"}, None),)
    ),
    Case(
        "another place altogether",
        True,
        "Find the city of postal code 1010021 in Japan.",
        ((_FIND, {"number": "44145", "country": "Germany"}, "Dortmund"),),
    ),
    Case("hidden file", True, "Save the report.", (("save", {"file_path": "/home/user/quarter.ods"}, None),)),
    Case(
        "hidden text",
        True,
        "Send a message to Ann.",
        (("send", {"name": "Ann", "content": "See you at six"}, None),),
    ),
    Case(
        "not what the earlier subtask makes",
        True,
        "Open contact.txt, then send its content to Ann.",
        (
            ("open", {"file_path": "contact.txt"}, "ann@example.org"),
            ("send", {"name": "Ann", "content": "Hello, answer me"}, None),
        ),
    ),
    Case("date differs", True, "What is on 16 June 2024?", (("read", {"date": "15 June 2024"}, None),)),
)
"""The labelled tasks."""


def judged() -> dict[str, bool]:
    """Whether the audit finds an error, by the name of the case."""
    with tempfile.TemporaryDirectory() as place:
        for case in CASES:
            count = len(case.parts)
            chain = "\n".join(f"{at} {at + 1}" if at + 1 < count else str(at) for at in range(count))
            value = {
                "id": case.name,
                "description": case.text,
                "tasks": [
                    {"task": program, "attribute": values, "output": output}
                    for program, values, output in case.parts
                ],
                "adjlist": chain,
            }
            (Path(place) / f"{case.name.replace(' ', '-')}.json").write_text(json.dumps(value))
        findings = audit_reading(survey_import("crab", Path(place)))
    found = {finding.item_id.removeprefix("crab:") for finding in findings if finding.severity == "error"}
    return {case.name: case.name in found for case in CASES}


def figures(quick: bool = False) -> list[Figure]:
    """Precision and recall of errors."""
    answers = judged()
    right = sum(case.defective and answers[case.name] for case in CASES)
    precision = right / max(sum(answers.values()), 1)
    recall = right / sum(case.defective for case in CASES)
    for case in CASES:
        if answers[case.name] is not case.defective:
            print(f"{case.name}: {'an error' if answers[case.name] else 'no error'}")
    note = f"{len(CASES)} tasks, {sum(case.defective for case in CASES)} of them defective"
    return [
        Figure("precision of the audit's errors", precision, "share", "1", precision == 1.0, note=note),
        Figure("recall of the audit's errors", recall, "share", "0.9 or more", recall >= 0.9, note=note),
    ]
