"""More than was asked for in the very thing that was made: a tag, another priority, a column, a number that
became a text."""

from __future__ import annotations

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.examination.case_building import build_cases
from taskloom.synthesis.examination.examination import examine
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.evaluators_api.test_state_checks import ask
from tests.synthesis.recordings import click, file, recording
from tests.synthesis.test_done_a_second_time import FIRST_LINES, LAST_LINE, harms
from tests.synthesis.test_shown_work import written

DATABASE = ".applications/desk/desk.db"
TICKETS = 'CREATE TABLE "ticket"("id" PRIMARY KEY, "summary", "priority", "keywords", "votes"); -- {} rows\n'
ROW = "INSERT INTO \"ticket\" VALUES({}, '{}', '{}', {}, {});\n"
LEDGER = '2025-01-01 open Assets:Cash\n2025-02-01 * "Shop" "Bread"\n  Expenses:Food  4 USD\n  Assets:Cash\n'
NOTE = "created: 20261122081519669\ntitle: {}\n{}type: text/plain\n\n{}\n"
OPEN = ".applications/draw/open document.drawio"
DIAGRAM = (
    '<mxfile><diagram name="{}"><mxGraphModel><root><mxCell'
    ' id="0"/>{}</root></mxGraphModel></diagram></mxfile>'
)
SHAPE = '<mxCell id="{}" value="{}" style="rounded=0" vertex="1" parent="1"/>'


def created(summary: str, *, priority: str = "minor", keywords: str = "''", votes: str = "0") -> Trajectory:
    old = ROW.format(1, "Broken lamp", "major", "''", 3)
    new = ROW.format(2, summary, priority, keywords, votes)
    return recording(
        "desk.create",
        {"summary": summary},
        [click("New", files=(file(DATABASE, TICKETS.format(2) + old + new),))],
        start={"files": (file(DATABASE, TICKETS.format(1) + old),)},
        instruction=f"Create a ticket with the summary '{summary}'.",
    )


def noted(title: str, tags: str = "") -> Trajectory:
    old = file(".applications/wiki/old.tid", NOTE.format("Old", "tags: first\n", "what was there"))
    new = file(f".applications/wiki/{title}.tid", NOTE.format(title, tags, "New text of it"))
    return recording(
        "wiki.note",
        {"title": title},
        [click("New", files=(old, new))],
        start={"files": (old,)},
        instruction=f"Create a note called '{title}'.",
    )


def booked(narration: str) -> Trajectory:
    entry = f'2026-03-01 * "Market" "{narration}"\n  Expenses:Food  7 USD\n  Assets:Cash\n'
    return recording(
        "money.book",
        {"narration": narration},
        [click("Save", files=(file("Documents/a.beancount", LEDGER + entry),))],
        start={"files": (file("Documents/a.beancount", LEDGER),)},
    )


def stored(text: str, path: str = "Documents/a.json") -> Trajectory:
    return recording("desk.json", {"text": text, "path": path}, [click("Save", files=(file(path, text),))])


def drawn(label: str, page: str = "Page-1") -> Trajectory:
    shape = SHAPE.format(2, label)
    return recording(
        "draw.shape",
        {"label": label},
        [click("New", files=(file(OPEN, DIAGRAM.format(page, shape)),))],
        start={"files": (file(OPEN, DIAGRAM.format("Page-1", "")),)},
    )


@pytest.mark.parametrize(
    ("trajectories", "call", "lax", "harm"),
    [
        (
            [created("New badges"), created("Old keys")],
            f"check_other_fields_empty(file_path='{DATABASE}', fields=['id', 'priority', 'summary'])",
            FIRST_LINES.format(
                "summary",
                f"check_record('{DATABASE}', {{'summary': summary, 'priority': 'minor', 'votes': '0'}},"
                f" 'ticket') and check_other_records_unchanged('{DATABASE}', added=1)",
            ),
            "keywords was filled as well",
        ),
        (
            [created("New badges"), created("Old keys")],
            "'priority': 'minor'",
            FIRST_LINES.format("summary", f"check_record('{DATABASE}', {{'summary': summary}}, 'ticket')"),
            "instead of 'minor', which nobody asked for",
        ),
        (
            [created("New badges"), created("Old keys")],
            "check_other_records_unchanged(",
            FIRST_LINES.format("summary", f"check_record('{DATABASE}', {{'summary': summary}}, 'ticket')"),
            "ticket has another column",
        ),
        (
            [noted("Trip"), noted("Visit")],
            "check_other_fields_empty(",
            FIRST_LINES.format(
                "title", "check_record('.applications/wiki/' + title + '.tid', {'title': title})"
            ),
            "tags was filled as well",
        ),
        (
            [booked("Eggs"), booked("Apples")],
            "check_other_fields_empty(file_path='Documents/a.beancount', fields=",
            FIRST_LINES.format(
                "narration",
                "check_record('Documents/a.beancount', {'narration': narration})"
                " and check_other_records_unchanged('Documents/a.beancount', added=1)",
            ),
            "has the tag #zq7 as well",
        ),
        (
            [
                stored('{"title": "Bread", "count": 12}'),
                stored('{"title": "Milk", "count": 7}', "Documents/b.json"),
            ],
            "check_file_data(file_path=path, text=text)",
            FIRST_LINES.format(
                "text: str, path",
                "check_record(path, {'title': text.split('\"')[3]}) and check_file_changed(path)",
            ),
            "has a number in quotation marks",
        ),
    ],
    ids=["field", "default", "column", "note", "tag", "type"],
)
def test_it_is_tried_and_asked_for(
    trajectories: list[Trajectory], call: str, lax: str, harm: str, shared_sandbox: EvaluationSandbox
) -> None:
    assert call in written(trajectories)
    assert any(harm in text for text in harms(trajectories))
    cases = build_cases(trajectories[0], other_trajectories=trajectories[1:])
    for source, refused in ((lax + LAST_LINE, True), (written(trajectories), False)):
        quality = examine(source, trajectories[0], cases, shared_sandbox)
        survivors = [text for family in quality.families for text in family.survivors]
        assert any(harm in text for text in survivors) is refused, survivors


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (created("New badges"), True),
        (created("New badges", keywords="NULL"), True),
        (created("New badges", keywords="'urgent'"), False),
        (created("New badges", votes="2"), False),
    ],
)
def test_other_fields_of_a_new_record_are_empty(done: Trajectory, expected: bool) -> None:
    fields = ["id", "summary", "priority"]
    said = ask(
        done.final_evidence,
        "check_other_fields_empty",
        done.initial_evidence,
        file_path=DATABASE,
        fields=fields,
    )
    assert said is expected


def test_what_others_hold_in_a_field_does_not_count() -> None:
    done = noted("Trip")
    for path, expected in ((".applications/wiki/Trip.tid", True), (".applications/wiki/gone.tid", False)):
        said = ask(
            done.final_evidence,
            "check_other_fields_empty",
            done.initial_evidence,
            file_path=path,
            fields=["created", "modified", "title", "type", "text"],
        )
        assert said is expected


def test_what_is_open_in_an_editor_counts_where_nothing_else_lasts() -> None:
    both = [drawn("Router"), drawn("Printer")]
    assert f"check_record(file_path='{OPEN}', fields={{'text': label}})" in written(both)
    said = written(both)
    renamed, right = drawn("Router", "Ground floor"), drawn("Router")
    with EvaluationSandbox() as sandbox:
        verdicts = [
            sandbox.evaluate(said, item.parameters, item.final_evidence, start=item.initial_evidence).passed
            for item in (right, renamed)
        ]
    assert verdicts == [True, False]


def _saved(label: str) -> Trajectory:
    path, text = f"Downloads/{label}.drawio", DIAGRAM.format("Page-1", SHAPE.format(2, label))
    return recording(
        "draw.save",
        {"label": label, "path": path},
        [click("Save", files=(file(path, text), file(OPEN, text)))],
        start={"files": (file(OPEN, DIAGRAM.format("Page-1", "")),)},
    )


def test_beside_a_saved_file_what_is_open_says_nothing() -> None:
    assert "open document" not in written([_saved("Router"), _saved("Printer")])


def _logged(job: str, said: str = "is written") -> Trajectory:
    return recording(
        "jobs.run",
        {"job": job},
        [click("Start", files=(file(f"Documents/{job}.txt", f"{job} done"), file(f"Logs/{job}.log", said)))],
    )


def test_a_log_must_be_begun_and_may_say_anything() -> None:
    both = [_logged("count"), _logged("export", "is written twice")]
    assert "check_file_exists(file_path='Logs/' + job + '.log')" in written(both)
    assert "is written" not in written(both)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 5, "b": [1, true]}', True),
        ('{ "b": [1, true], "a": 5 }', True),
        ('{"a": "5", "b": [1, true]}', False),
        ('{"a": 5, "b": [1, 1]}', False),
    ],
)
def test_in_json_a_number_is_no_text(text: str, expected: bool) -> None:
    held = FileState(path="a.json", size=1, sha256="0" * 64, text='{"a": 5, "b": [1, true]}')
    assert ask(Evidence(step=1, files=(held,)), "check_file_data", file_path="a.json", text=text) is expected


def test_a_diagram_under_the_name_of_a_picture_is_no_picture() -> None:
    diagram = DIAGRAM.format("Page-1", SHAPE.format(2, "Router"))
    picture = '<?xml version="1.0"?><svg><rect x="1" y="1" width="5" height="5"/><text>Router</text></svg>'
    for text, expected in ((picture, True), (diagram, False)):
        state = FileState(path="Downloads/a.svg", size=1, sha256="0" * 64, text=text)
        said = ask(
            Evidence(step=1, files=(state,)),
            "check_drawing",
            file_path="Downloads/a.svg",
            shapes=["rectangle"],
            texts=["Router"],
        )
        assert said is expected


def _moved(text: str, name: str) -> Trajectory:
    source, target = f"Documents/{name}.json", f"Downloads/{name}.json"
    return recording(
        "files.move",
        {"source": source, "target": target},
        [click("Paste", files=(file(target, text),))],
        start={"files": (file(source, text),)},
    )


def test_the_fields_of_a_copy_are_those_of_what_was_copied() -> None:
    said = written([_moved('[{"name": "Ada"}]', "people"), _moved('[{"size": 3}]', "shirts")])
    assert "check_copied(source=source, target=target, whole=True)" in said
    assert "check_other_fields_empty" not in said
