"""Data of applications beside the work: other notes, other tables, settings. Nobody asked for a change of
them, so none may pass."""

from __future__ import annotations

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.examination.case_building import build_cases
from taskloom.synthesis.examination.examination import examine
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.evaluators_api.state.evidence import evidence
from tests.evaluators_api.test_state_checks import ask
from tests.synthesis.recordings import click, file, recording
from tests.synthesis.test_shown_work import written

NOTES = ".applications/notes/"
OTHER = "title: Garden\ntype: text/plain\n\nSow the beans early\n"


def note(title: str, text: str) -> str:
    return f"title: {title}\ntype: text/plain\n\n{text}\n"


def extended(title: str, line: str, held: str) -> Trajectory:
    path = f"{NOTES}{title}.note"
    before = (file(path, note(title, held)), file(f"{NOTES}Garden.note", OTHER))
    after = (file(path, note(title, f"{held}\n{line}")), file(f"{NOTES}Garden.note", OTHER))
    return recording(
        "notes.extend",
        {"note_title": title, "line": line},
        [click("Save", files=after)],
        start={"files": before},
        instruction=f"Add the line '{line}' at the end of the note '{title}'.",
    )


def shop(customers: str, stock: str = "INSERT INTO \"stock\" VALUES('Lamp',3);\n") -> str:
    count, kinds = customers.count("INSERT"), stock.count("INSERT")
    return (
        f'CREATE TABLE "customers"("id" PRIMARY KEY, "name"); -- {count} rows\n{customers}'
        f'CREATE TABLE "stock"("thing", "number"); -- {kinds} rows\n{stock}'
    )


def rows(*names: str) -> str:
    numbered = [f"INSERT INTO \"customers\" VALUES({n},'{name}');\n" for n, name in enumerate(names, 1)]
    return "".join(reversed(numbered))


def imported(path: str, *names: str) -> Trajectory:
    table = "id,name\n" + "".join(f"{n},{name}\n" for n, name in enumerate(names, 2))
    base, source = ".applications/shop/shop.db", file(path, table)
    return recording(
        "shop.import",
        {"csv_path": path},
        [click("Import", files=(file(base, shop(rows("Ada", *names))), source))],
        start={"files": (file(base, shop(rows("Ada"))), source)},
        instruction=f"Import '{path}' into the table customers.",
    )


EXTENDED = (
    extended("Packing list", "An umbrella", "Passport and tickets"),
    extended("Shopping list", "Lamp oil", "Candles and matches"),
)
IMPORTED = (imported("Documents/new.csv", "Emmy", "Sofia"), imported("Documents/more.csv", "Grace"))


@pytest.mark.parametrize("both", [EXTENDED, IMPORTED], ids=["another note", "another table"])
def test_what_applications_keep_beside_the_work_is_guarded(both: tuple[Trajectory, Trajectory]) -> None:
    source = written(both)
    cases = build_cases(both[0], other_trajectories=both[1:])
    beside = [case for case in cases if "as well" in case.description and ".applications" in case.description]
    assert any("Garden.note: a text in it was changed" in case.description for case in beside) or any(
        "stock" in case.description for case in beside
    )
    with EvaluationSandbox() as sandbox:
        for item in both:
            end, start = item.final_evidence, item.initial_evidence
            assert sandbox.evaluate(source, item.parameters, end, start=start).passed
        for case in beside:
            said = sandbox.evaluate(source, case.parameters, case.evidence, start=case.start)
            assert not said.passed, case.description


def test_a_function_that_looks_at_its_own_note_only_is_told_of_the_other_one() -> None:
    guarded = written(EXTENDED)
    line = next(row for row in guarded.splitlines() if "check_other_data_unchanged" in row)
    cases = build_cases(EXTENDED[0], other_trajectories=EXTENDED[1:])
    with EvaluationSandbox() as sandbox:
        quality = examine(guarded.replace(f"{line}\n", ""), EXTENDED[0], cases, sandbox)
    survivors = [text for family in quality.families for text in family.survivors]
    assert any("Garden.note: a text in it was changed as well" in text for text in survivors)


def test_other_data_is_unchanged_where_only_times_differ() -> None:
    wiki = ".applications/wiki/"
    start = evidence(
        {f"{wiki}a.json": '{"text": "one", "modified": "2026-11-22T08:15:19.669Z"}', "Documents/a.txt": "x"}
    )
    asked = "check_other_data_unchanged"
    later = evidence({f"{wiki}a.json": '{"text": "one", "modified": "2026-11-23T09:15:19.669Z"}'})
    other = evidence({f"{wiki}a.json": '{"text": "two", "modified": "2026-11-22T08:15:19.669Z"}'})
    assert ask(later, asked, start, file_paths=[])
    assert not ask(other, asked, start, file_paths=[])
    assert ask(other, asked, start, file_paths=[f"~/{wiki}a.json"])
    more = evidence(
        {**{item.path: item.text or "" for item in start.files}, f"{wiki}files/8f2e/b.csv": "a,b\n"}
    )
    assert not ask(more, asked, start, file_paths=[f"{wiki}*.csv"])
    assert ask(more, asked, start, file_paths=[f"{wiki}files/*/*.csv"])


def test_a_date_that_people_set_is_no_time_that_an_application_notes() -> None:
    plan = ".applications/plan/plan.json"
    start = evidence({plan: '{"due": 1795402302000000, "changed": 1795402302000000}'})
    noted = evidence({plan: '{"due": 1795402302000000, "changed": 1795402999000000}'})
    moved = evidence({plan: '{"due": 1795409999000000, "changed": 1795402302000000}'})
    assert ask(noted, "check_other_data_unchanged", start, file_paths=[])
    assert not ask(moved, "check_other_data_unchanged", start, file_paths=[])


def test_a_guard_is_never_idle_and_any_other_condition_that_nothing_needs_is() -> None:
    path = f"'{NOTES}' + note_title + '.note'"
    asked = (
        f"check_text_extended({path}, line)",
        f"check_other_data_unchanged([{path}])",
        "check_other_files_unchanged([])",
        "check_other_folders_unchanged([])",
        f"check_file_exists({path})",
    )
    source = (
        "def evaluate_agent_task_completion(note_title: str, line: str) -> EvalResult:\n"
        f"    done = [{', '.join(asked)}]\n"
        "    return EvalResult(all(done), 'done', sum(done) / len(done))\n"
    )
    cases = [
        case
        for case in build_cases(EXTENDED[0], other_trajectories=EXTENDED[1:])
        if "folder" not in case.description
    ]
    with EvaluationSandbox() as sandbox:
        quality = examine(source, EXTENDED[0], cases, sandbox)
    assert [text.partition("(")[0] for text in quality.untested_checks] == ["check_file_exists"]
