"""What an episode changed beyond what its subtasks may change."""

from __future__ import annotations

import json

import pytest

from taskloom.evaluators_api.state.account import Bound, find_side_effects
from taskloom.evaluators_api.state.allowances import allowances
from taskloom.evaluators_api.state.effects import effects
from taskloom.taskgraph.records.effect import Allowance, SideEffects
from taskloom.taskgraph.records.evidence import Evidence
from tests.evaluators_api.state.evidence import evidence as state

START = {
    "Documents/notes.txt": "first\nsecond\n",
    "Documents/people.csv": "name,city\nAnn,Oslo\nBob,Rome\n",
    ".applications/editor/settings.json": '{"theme": "light", "opened": 1}',
}
DONE = {**START, "Documents/report.txt": "all is well\n"}
PARAMETERS = {"text_path": "Documents/report.txt"}


def found(end: dict[str, str], *directories: str) -> SideEffects:
    """Side effects of an attempt that ended in `end`, where a file is to be written."""
    verified = effects(state(START), state(DONE), PARAMETERS)
    bound = [(allowances([(verified, PARAMETERS)]), PARAMETERS)]
    return find_side_effects(state(START), state(end, directories=directories), bound)


def without(path: str) -> dict[str, str]:
    return {name: text for name, text in DONE.items() if name != path}


def test_work_done_as_verified_has_none_whatever_its_value() -> None:
    assert found(DONE) == SideEffects()
    assert found({**DONE, "Documents/report.txt": "something else\n"}) == SideEffects()


def test_work_not_done_has_none() -> None:
    assert found(START) == SideEffects()


@pytest.mark.parametrize(
    ("end", "counted"),
    [
        (without("Documents/notes.txt"), {"files_lost": 1}),
        ({**DONE, "Documents/other.txt": "x\ny\n"}, {"files_added": 1}),
        ({**DONE, "Documents/notes.txt": "first\n"}, {"records_lost": 1}),
        (
            {**DONE, "Documents/people.csv": START["Documents/people.csv"] + "Cid,Bern\n"},
            {"records_added": 1},
        ),
        (
            {**DONE, "Documents/people.csv": "name,city\nAnn,Oslo\nBob,Paris\n"},
            {"values_changed": 1},
        ),
        (
            {
                **without("Documents/notes.txt"),
                "Documents/a.txt": "x",
                "Documents/b.txt": "y",
            },
            {"files_lost": 1, "files_added": 2},
        ),
    ],
    ids=["file lost", "file added", "line lost", "row added", "cell changed", "several"],
)
def test_everything_else_counts_by_what_it_is(end: dict[str, str], counted: dict[str, int]) -> None:
    result = found(end)

    assert result == SideEffects(total=sum(counted.values()), examples=result.examples, **counted)
    assert len(result.examples) == result.total


def test_what_is_inside_of_something_new_counts_with_it() -> None:
    result = found({**DONE, "Documents/new.csv": "a,b\n1,2\n3,4\n"})

    assert result.total == 1
    assert "Documents/new.csv" in result.examples[0]


@pytest.mark.parametrize("header", ["", "---\ntitle: Report\n---\n\n"], ids=["plain", "with a header"])
def test_a_new_text_may_be_as_long_as_what_it_was_copied_from(header: str) -> None:
    pasted = {"text_path": "Documents/report.md"}
    performances = [
        (effects(state(START), state({**START, "Documents/report.md": header + text}), pasted), pasted)
        for text in ("one line\n", "another line\n")
    ]
    long = state({**START, "Documents/report.md": f"{header}May,120\nJune,140\nJuly,155\n"})

    assert find_side_effects(state(START), long, [(allowances(performances), pasted)]).total == 0


def test_files_under_made_up_names_are_allowed_as_often_as_they_are_made() -> None:
    names = [
        "455f49bb-3659-7819-c3d2-48003af4106a",
        "12bae2de-81db-7097-2e9c-16b7b3734a1d",
        "9c1f0d7e-1234-4abc-8def-0123456789ab",
    ]
    first, second, third = ({f"records/{name}/record.json": '{"title": "N"}'} for name in names)
    known = allowances([(effects(state({}), state(made), {}), {}) for made in (first, second)])

    assert find_side_effects(state({}), state(third), [(known, {})]).total == 0
    assert find_side_effects(state({}), state({**first, **third}), [(known, {})]).files_added == 1


def test_a_folder_counts_by_itself_only_when_it_is_empty() -> None:
    assert found(DONE, "Documents/empty").files_added == 1
    assert found({**DONE, "Documents/sub/new.txt": "x"}, "Documents/sub").files_added == 1


def test_the_same_place_is_expected_as_often_as_it_is_verified() -> None:
    added = {**START, "Documents/notes.txt": START["Documents/notes.txt"] + "third\n"}
    line: Bound = (allowances([(effects(state(START), state(added), {}), {})]), {})
    twice = state({**added, "Documents/notes.txt": added["Documents/notes.txt"] + "x\n"})

    assert find_side_effects(state(START), twice, [line]).records_added == 1
    assert find_side_effects(state(START), twice, [line, line]).total == 0


def test_only_files_and_folders_are_possessions() -> None:
    end = state(DONE).model_copy(update={"window_title": "Other", "url": "http://localhost/elsewhere"})

    assert find_side_effects(state(DONE), end, []).total == 0


def database(pages: str, milestones: str = "") -> str:
    """A database with pages known by name and version, and milestones known by their names."""
    return (
        f'CREATE TABLE "wiki"("name" PRIMARY KEY, "version" PRIMARY KEY, "text", "readonly");\n{pages}'
        f'CREATE TABLE "milestone"("name" PRIMARY KEY, "due", "text");\n{milestones}'
    )


def page(name: str, version: int, text: str, readonly: int = 0) -> str:
    return f"INSERT INTO \"wiki\" VALUES('{name}',{version},'{text}',{readonly});\n"


def milestone(name: str, due: str) -> str:
    return f"INSERT INTO \"milestone\" VALUES('{name}','{due}','none yet');\n"


DB = ".applications/trac/trac.db"
HOME = page("Home", 1, "Welcome")


def performed(template: str, *values: tuple[str, str]) -> tuple[Allowance, ...]:
    """What may be changed by work that makes or extends a page, from two performances."""
    performances = []
    for name, text in values:
        before = HOME if template == "make" else HOME + page(name, 4, "old")
        after = before + page(name, 1 if template == "make" else 5, text)
        parameters = {"page": name, "text": text}
        changes = effects(
            state({DB: database(before, milestone("Spring", "0"))}),
            state({DB: database(after, milestone("Spring", "0"))}),
            parameters,
        )
        performances.append((changes, parameters))
    return allowances(performances)


MADE = performed("make", ("Garden", "Sow beans"), ("Kitchen", "Wash up"))
EXTENDED = performed("extend", ("Plans", "more"), ("Notes", "and so on"))
TASK = [(MADE, {"page": "Cellar", "text": "Wine"}), (EXTENDED, {"page": "Cellar", "text": "Wine and cheese"})]


def in_task(pages: str, milestones: str = milestone("Spring", "0")) -> SideEffects:
    """What is wrong after a task that makes the page Cellar and extends it."""
    start = state({DB: database(HOME, milestone("Spring", "0"))})
    return find_side_effects(start, state({DB: database(pages, milestones)}), TASK)


def test_what_a_task_makes_and_a_later_subtask_touches_is_no_damage() -> None:
    assert not in_task(HOME + page("Cellar", 1, "Wine") + page("Cellar", 2, "Wine and cheese")).total
    assert not in_task(HOME + page("Cellar", 1, "Wine")).total, "half of the work"
    three = page("Cellar", 1, "Wine") + page("Cellar", 2, "Wine a") + page("Cellar", 3, "Wine and cheese")
    assert not in_task(HOME + three).total, "saved in two goes"


@pytest.mark.parametrize(
    ("pages", "milestones", "kind"),
    [
        (page("Cellar", 1, "Wine"), milestone("Spring", "0"), "records_lost"),
        (
            HOME + page("Cellar", 1, "Wine") + page("Attic", 1, "Wine"),
            milestone("Spring", "0"),
            "records_added",
        ),
        (page("Home", 1, "Hi") + page("Cellar", 1, "Wine"), milestone("Spring", "0"), "values_changed"),
        (HOME + page("Cellar", 1, "Wine", readonly=1), milestone("Spring", "0"), "values_changed"),
        (HOME + page("Cellar", 1, "Wine"), milestone("Spring", "9"), "values_changed"),
        (HOME + page("Cellar", 1, "Wine"), "", "records_lost"),
        (HOME + page("Cellar", 1, "Wine"), milestone("Spring", "0") + milestone("May", "0"), "records_added"),
    ],
    ids=[
        "page lost",
        "other page",
        "page changed",
        "other default",
        "other table",
        "lost there",
        "added there",
    ],
)
def test_damage_beside_a_task_is_noticed(pages: str, milestones: str, kind: str) -> None:
    result = in_task(pages, milestones)
    assert result.total == getattr(result, kind) == 1, result.examples


def test_what_an_application_tells_counts_whatever_page_is_in_front() -> None:
    told = ".applications/jobs/told.json"
    running = json.dumps([{"name": name, "state": "RUNNING"} for name in ("backup", "mailer")])
    end = state({**DONE, told: running.replace("RUNNING", "STOPPED", 1)}).model_copy(
        update={"active_application": "editor", "url": "http://editor/", "window_title": "Report"}
    )
    verified = effects(state({**START, told: running}), state({**DONE, told: running}), PARAMETERS)
    bound = [(allowances([(verified, PARAMETERS)]), PARAMETERS)]

    assert find_side_effects(state({**START, told: running}), end, bound).values_changed == 1


def booking(payee: str, *postings: str) -> str:
    return f'2026-03-02 * "{payee}" "Bread"\n' + "".join(f"  {line}\n" for line in postings) + "\n"


def test_a_list_inside_of_a_record_is_bounded() -> None:
    path, opened = "Documents/ledger.beancount", "2026-01-01 open Assets:Cash\n\n"
    performances = []
    for payee, amount in (("Bakery", "8.40"), ("Dairy", "9.80")):
        parameters = {"payee": payee, "amount": f"{amount} USD"}
        made = booking(payee, f"Expenses:Food  {amount} USD", f"Assets:Cash  -{amount} USD")
        performances.append(
            (effects(state({path: opened}), state({path: opened + made}), parameters), parameters)
        )
    bound = [(allowances(performances), {"payee": "Grocer", "amount": "5.00 USD"})]
    right = booking("Grocer", "Expenses:Food  5.00 USD", "Assets:Cash  -5.00 USD")
    more = booking(
        "Grocer",
        "Expenses:Food  5.00 USD",
        "Assets:Cash  -5.00 USD",
        "Expenses:Rent  2.00 USD",
        "Assets:Bank  -2.00 USD",
    )
    assert not find_side_effects(state({path: opened}), state({path: opened + right}), bound).total
    assert find_side_effects(state({path: opened}), state({path: opened + more}), bound).records_added == 2


def damage_of(done: str, there: str, made: str) -> int:
    """What is damage in a table that held `there`, where performances for two people left `made`."""
    path = ".applications/wiki/table.csv"
    performances = []
    for name in ("Ada", "Emmy"):
        left, parameters = there + made.format(name), {"person": name}
        performances.append((effects(state({path: there}), state({path: left}), parameters), parameters))
    bound = [(allowances(performances), {"person": "Sofia"})]
    return find_side_effects(state({path: there}), state({path: there + done}), bound).total


@pytest.mark.parametrize(
    ("write", "visits", "damage"), [("1", "1", 0), ("1", "2", 0), ("0", "1", 1), ("", "1", 1)]
)
def test_a_number_that_every_performance_leaves_is_not_nought(write: str, visits: str, damage: int) -> None:
    made = ("name,write,visits\nTom,0,3\n", "{},1,1\n")
    assert damage_of(f"Sofia,{write},{visits}\n", *made) == damage


def test_where_noughts_and_counts_were_both_left_another_count_may_be() -> None:
    made = ("name,page,count\nTom,Home,3\n", "{0},Home,0\n{0},Start,5\n")
    assert not damage_of("Sofia,Home,0\nSofia,Start,6\n", *made)


def history(*changes: tuple[str, str]) -> str:
    return "field,old,new\n" + "".join(f"state,{old},{new}\n" for old, new in changes)


@pytest.mark.parametrize(
    ("was", "changes", "damage"),
    [
        ("open", [("open", "Done")], 0),
        ("late", [("late", "Done")], 0),
        ("late", [("late", "Half"), ("Half", "Done")], 0),
        ("late", [("lost", "Done")], 1),
    ],
)
def test_a_record_of_a_change_may_tell_what_was_there_before_or_what_another_subtask_wrote(
    was: str, changes: list[tuple[str, str]], damage: int
) -> None:
    job, log = ".applications/jobs/job.json", ".applications/jobs/log.csv"

    def jobs(value: str, *told: tuple[str, str]) -> Evidence:
        return state({job: json.dumps({"name": "x", "state": value}), log: history(*told)})

    performances = [
        (effects(jobs("open"), jobs(new, ("open", new)), {"state": new}), {"state": new})
        for new in ("Busy", "Gone")
    ]
    allowed = allowances(performances)
    bound = [(allowed, {"state": new}) for _, new in changes]
    assert find_side_effects(jobs(was), jobs("Done", *changes), bound).total == damage


@pytest.mark.parametrize(("others", "damage"), [([], 1), ([{"name": "Tom"}], 0), ([{"name": "Eva"}], 1)])
def test_what_work_is_told_itself_may_not_stand_where_all_performances_have_the_same(
    others: list[dict[str, str]], damage: int
) -> None:
    def people(*rows: tuple[str, str]) -> Evidence:
        held = [{"id": name, "name": name, "level": level} for name, level in rows]
        return state({"people.json": json.dumps(held)})

    start = people(("Ada", "new"))
    performances = [
        (effects(start, people(("Ada", "new"), (name, "usual")), {"name": name}), {"name": name})
        for name in ("Bob", "Cid")
    ]
    allowed = allowances(performances)
    done = people(("Ada", "new"), ("Tom", "Tom"))
    bound = [(allowed, {"name": "Tom"}), *(((), other) for other in others)]
    assert find_side_effects(start, done, bound).total == damage


@pytest.mark.parametrize(("written", "damage"), [("", 0), ("  -5.00 USD", 0), ("  -4.00 USD", 1)])
def test_an_amount_may_be_written_out_where_performances_left_it_to_the_program(
    written: str, damage: int
) -> None:
    path, opened = "Documents/ledger.beancount", "2026-01-01 open Assets:Cash\n\n"
    performances = []
    for payee, amount in (("Bakery", "8.40"), ("Dairy", "9.80")):
        parameters = {"payee": payee, "amount": f"{amount} USD"}
        made = booking(payee, f"Expenses:Food  {amount} USD", "Assets:Cash")
        performances.append(
            (effects(state({path: opened}), state({path: opened + made}), parameters), parameters)
        )
    bound = [(allowances(performances), {"payee": "Grocer", "amount": "5.00 USD"})]
    done = booking("Grocer", "Expenses:Food  5.00 USD", f"Assets:Cash{written}")
    assert find_side_effects(state({path: opened}), state({path: opened + done}), bound).total == damage
