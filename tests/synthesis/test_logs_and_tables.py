"""What an application writes into its log of changes is no outcome; a table is one, however empty it is."""

from collections.abc import Mapping, Sequence

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.offline.evaluation_writer import write_function
from taskloom.offline.mistakes import MistakeSource
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.synthesis.evaluation_functions.evaluation_functions import performances
from taskloom.synthesis.examination.case_building import build_cases
from taskloom.synthesis.examination.examination import examine
from taskloom.synthesis.examination.subject import subject_of
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, file, recording

DATABASE = ".applications/desk/desk.db"
SUMMARIES = {"1": "Broken lamp", "2": "New badges"}
TICKETS = 'CREATE TABLE "ticket"("id" PRIMARY KEY, "summary", "state", "outcome"); -- 2 rows\n'
LOG = 'CREATE TABLE "log"("ticket", "time", "field", "old", "new"); -- {} rows\n'
PAGES = 'CREATE TABLE "page"("name", "version", "text"); -- {} rows\n'


def stored(closed: str = "", log: tuple[str, ...] = (), pages: tuple[str, ...] = ()) -> str:
    rows = [
        f"INSERT INTO \"ticket\" VALUES({number}, '{summary}', {state});\n"
        for number, summary in SUMMARIES.items()
        for state in ["'closed', 'fixed'" if number == closed else "'new', NULL"]
    ]
    return "".join(
        [
            LOG.format(len(log)),
            *(f'INSERT INTO "log" VALUES({row});\n' for row in log),
            PAGES.format(len(pages)),
            *(f'INSERT INTO "page" VALUES({row});\n' for row in pages),
            TICKETS,
            *rows,
        ]
    )


def closed(number: str, *, attempt: int = 0) -> Trajectory:
    time = f"179538{number}486946959"
    log = (
        f"{number}, {time}, 'comment', '1', ''",
        f"{number}, {time}, 'outcome', NULL, 'fixed'",
        f"{number}, {time}, 'state', 'new', 'closed'",
    )
    return recording(
        "desk.close",
        {"ticket_title": SUMMARIES[number]},
        [click("Close", files=(file(DATABASE, stored(number, log)),))],
        start={"files": (file(DATABASE, stored()),)},
        instruction=f"Resolve the ticket '{SUMMARIES[number]}' as fixed.",
        attempt=attempt,
    )


def page(name: str, line: str, *, attempt: int = 0) -> Trajectory:
    first = {"Rules": "= Rules =\r\nBe kind.", "News": "= News =\r\nIt rained."}
    before = tuple(f"'{known}', 1, '{text}'" for known, text in first.items())
    after = (f"'{name}', 2, '{first[name]}\r\n{line}'", *before)
    return recording(
        "desk.add_line",
        {"page_title": name, "line": line},
        [click("Save", files=(file(DATABASE, stored(pages=after)),))],
        start={"files": (file(DATABASE, stored(pages=before)),)},
        instruction=f"Add the line '{line}' at the end of the page '{name}'.",
        attempt=attempt,
    )


def table(name: str, *, made: bool = True, attempt: int = 0) -> Trajectory:
    with_it = f'{stored()}CREATE TABLE "{name}"("id"); -- 0 rows\n'
    before, after = (stored(), with_it) if made else (with_it, stored())
    return recording(
        "desk.table",
        {"table_name": name},
        [click("Do", files=(file(DATABASE, after),))],
        start={"files": (file(DATABASE, before),)},
        attempt=attempt,
    )


def written(*trajectories: Trajectory, names: Mapping[str, str]) -> str:
    view = EvaluationWriterInput(
        checks_reference="",
        operating_system="",
        application="desk",
        title="Desk",
        instruction_template="",
        parameter_names=tuple(names),
        performances=performances(trajectories),
    )
    return write_function(view, 0, MistakeSource(0.0))[0].source


def test_entries_of_a_log_need_not_be_asked_for() -> None:
    subject = subject_of(closed("1"), [closed("2")])
    guarded = {effect.address for effect in subject.guarded}
    assert ("ticket", "rows", "1", "state") in guarded
    assert ("ticket", "rows", "1", "outcome") in guarded
    said = {address[3] for address in guarded if address[:2] == ("log", "rows") and len(address) > 3}
    assert said == {"ticket", "new"}, "only the entry that says 'fixed', as the instruction does"


def test_a_table_that_keeps_what_another_one_held_need_not_be_asked_for() -> None:
    def kept(*people: str, versions: tuple[str, ...] = (), other: str = "person_version") -> str:
        tables = [("person", '"id" PRIMARY KEY, "name"', people), (other, '"id", "name", "step"', versions)]
        return "".join(
            f'CREATE TABLE "{table}"({columns}); -- {len(rows)} rows\n'
            + "".join(f'INSERT INTO "{table}" VALUES({row});\n' for row in rows)
            for table, columns, rows in tables
        )

    def added(name: str, other: str) -> Trajectory:
        end = kept("1, 'Ann'", f"2, '{name}'", versions=("1, 'Ann', 1", f"2, '{name}', 2"), other=other)
        start = kept("1, 'Ann'", versions=("1, 'Ann', 1",), other=other)
        return recording(
            "desk.add",
            {"member_name": name},
            [click("Add", files=(file(DATABASE, end),))],
            start={"files": (file(DATABASE, start),)},
        )

    for other, asked in (("person_version", {"person"}), ("employee", {"person", "employee"})):
        subject = subject_of(added("Ben", other), [added("Cleo", other)])
        assert {effect.address[0] for effect in subject.guarded} == asked
        assert {effect.address[0] for effect in subject.essential} == {"person", other}


@pytest.mark.parametrize(
    ("noted", "version", "asked"),
    [
        ("Taxi", "share_version", {"share"}),
        ("{person}", "share_version", {"share", "bill_version"}),
        ("Taxi", "entries", {"share", "entries", "bill_version"}),
    ],
    ids=["the record as it is", "something else", "without a history of what changed"],
)
def test_a_further_version_of_a_record_that_did_not_change_need_not_be_asked_for(
    noted: str, version: str, asked: set[str]
) -> None:
    columns = {
        "bill": '"id" PRIMARY KEY, "what"',
        "bill_version": '"id" PRIMARY KEY, "what", "step" PRIMARY KEY, "until"',
        "share": '"bill_id" PRIMARY KEY, "person_id" PRIMARY KEY',
        version: '"bill_id" PRIMARY KEY, "person_id" PRIMARY KEY, "step" PRIMARY KEY',
    }

    def kept(rows: Mapping[str, Sequence[str]]) -> str:
        return "".join(
            f'CREATE TABLE "{table}"({columns[table]}); -- {len(rows[table])} rows\n'
            + "".join(f'INSERT INTO "{table}" VALUES({row});\n' for row in rows[table])
            for table in columns
        )

    def shared(person: str) -> Trajectory:
        start: dict[str, Sequence[str]] = dict.fromkeys(columns, ())
        start |= {"bill": ["7, 'Taxi'"], "bill_version": ["7, 'Taxi', 1, NULL"]}
        end = start | {
            "bill_version": ["7, 'Taxi', 1, 2", f"7, '{noted.format(person=person)}', 2, NULL"],
            "share": [f"7, {person}"],
            version: [f"7, {person}, 2"],
        }
        return recording(
            "desk.share",
            {"person": person},
            [click("Share", files=(file(DATABASE, kept(end)),))],
            start={"files": (file(DATABASE, kept(start)),)},
        )

    subject = subject_of(shared("41"), [shared("52")])
    assert {effect.address[0] for effect in subject.guarded} == asked
    assert {effect.address[0] for effect in subject.essential} == {"share", version, "bill_version"}


def test_what_is_read_to_be_asked_for_is_not_idle_because_records_are_numbered_alike(
    shared_sandbox: EvaluationSandbox,
) -> None:
    def shared(title: str = "") -> str:
        rows = {"bill": [f"1, '{title}'"] if title else [], "share": ["1, 7"] if title else []}
        columns = {"bill": '"id" PRIMARY KEY, "what"', "share": '"bill_id", "person_id"'}
        return "".join(
            f'CREATE TABLE "{table}"({columns[table]}); -- {len(rows[table])} rows\n'
            + "".join(f'INSERT INTO "{table}" VALUES({row});\n' for row in rows[table])
            for table in ("bill", "share")
        )

    one, other = (
        recording(
            "desk.share",
            {"title": title},
            [click("Add", files=(file(DATABASE, shared(title)),))],
            start={"files": (file(DATABASE, shared()),)},
        )
        for title in ("Taxi", "Museum")
    )
    source = f"""def evaluate_agent_task_completion(title: str) -> EvalResult:
    path = {DATABASE!r}
    number = get_linked_field(path, 'id', {{'what': title}})
    good = [check_record(path, {{'id': number, 'what': title}}, within='bill'),
            check_record(path, {{'bill_id': number, 'person_id': '7'}}, within='share'),
            check_other_records_unchanged(path, added=2)]
    return EvalResult(all(good), 'done' if all(good) else 'missing', sum(good) / 3)
"""
    quality = examine(source, one, build_cases(one, other_trajectories=(other,)), shared_sandbox)
    assert quality.passes_positive
    assert not any(item.startswith("get_linked_field") for item in quality.untested_checks), quality


def test_numbers_in_rows_of_a_new_file_are_its_content() -> None:
    made = [
        recording(
            "desk.table",
            {"first": first, "second": second},
            [click("Save", files=(file("Documents/a.csv", f"item,count\nLamp,{first}\nChair,{second}\n"),))],
        )
        for first, second in (("12", "30"), ("7", "9"))
    ]
    guarded = {effect.address for effect in subject_of(made[0], made[1:]).guarded}
    assert ("rows", "Lamp", "count") in guarded


def test_all_changed_fields_of_a_record_are_asked_for() -> None:
    source = written(closed("1"), closed("2"), names={"ticket_title": ""})
    assert "'outcome': 'fixed', 'state': 'closed', 'summary': ticket_title" in source


def test_a_version_of_a_page_holds_the_one_before() -> None:
    source = written(
        page("Rules", "Be brief."), page("News", "It snowed."), names={"page_title": "", "line": ""}
    )
    assert "fields={'name': page_title}, at_start=True) + '\\n' + line" in source


@pytest.mark.parametrize("made", [True, False])
def test_a_table_is_asked_for_by_its_name_even_when_it_is_empty(made: bool) -> None:
    performed = [table(name, made=made) for name in ("visits", "returns")]
    source = written(*performed, names={"table_name": ""})
    asked = f"check_part_exists(file_path='{DATABASE}', part=table_name)"
    assert f"({'' if made else 'not '}{asked}" in source
    assert "check_other_parts_unchanged(" in source
    assert subject_of(performed[0], performed[1:]).guarded or not made


def test_wrong_work_on_tables_is_made_from_right_work() -> None:
    found = {
        item.description
        for item in build_cases(table("visits"), other_trajectories=(table("returns"),))
        if item.family == "undone_change"
    }
    assert any("visits" in text for text in found)


def test_a_line_at_the_end_of_a_copy_may_not_stand_before_it() -> None:
    performed = [
        recording(
            "desk.extend",
            {"text_path": f"Documents/{name}.txt", "line": line, "longer_path": f"Documents/{name}_new.txt"},
            [
                click(
                    "Save",
                    files=(
                        file(f"Documents/{name}.txt", f"{text}\n"),
                        file(f"Documents/{name}_new.txt", f"{text}\n{line}\n"),
                    ),
                )
            ],
            start={"files": (file(f"Documents/{name}.txt", f"{text}\n"),)},
            instruction=(
                f"Add the line '{line}' at the end of Documents/{name}.txt and save it as"
                f" Documents/{name}_new.txt."
            ),
        )
        for name, text, line in (("a", "First of all", "Bring tea"), ("b", "To begin with", "Call Ann"))
    ]
    (case,) = [item for item in build_cases(performed[0]) if "and not at the end" in item.description]
    assert case.evidence.files_by_path()["Documents/a_new.txt"].text == "Bring tea\nFirst of all\n"
    source = written(*performed, names={"text_path": "", "line": "", "longer_path": ""})
    assert "get_file_text(file_path=text_path, at_start=True).rstrip() + '\\n' + line" in source
