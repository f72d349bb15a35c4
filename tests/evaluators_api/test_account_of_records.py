"""Which record an episode changed, where another one of its kind was meant."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from taskloom.evaluators_api.state.account import find_side_effects
from taskloom.evaluators_api.state.allowances import allowances
from taskloom.evaluators_api.state.effects import effects
from taskloom.taskgraph.records.effect import Allowance
from taskloom.taskgraph.records.evidence import Evidence, FileState
from tests.evaluators_api.state.evidence import evidence as state

DB = ".applications/trac/trac.db"
TICKETS = ("Lamp", "Door", "Roof", "Fence")


def ticket_table(**states: str) -> dict[str, str]:
    rows = (
        f"INSERT INTO \"ticket\" VALUES({number},'{name}','{states.get(name, 'open')}');\n"
        for number, name in enumerate(TICKETS, start=1)
    )
    return {DB: 'CREATE TABLE "ticket"("id" PRIMARY KEY, "title", "state");\n' + "".join(rows)}


def ticket_list(**states: str) -> dict[str, str]:
    """Records without a key, as two of them have the same of everything but their titles."""
    items = [{"tags": ["a"], "state": states.get(name, "open"), "title": name} for name in TICKETS]
    items.append({"tags": ["a"], "state": "open", "title": "Lamp"})
    return {".applications/list/items.json": json.dumps(items)}


def ticket_folders(**states: str) -> dict[str, str]:
    """Folders under names that the application made up, with what is inside beside what they are called."""
    made: dict[str, str] = {}
    for number, name in enumerate(TICKETS):
        folder = f".applications/cards/{number}5f49bb{number}-3659-7819-c3d2-48003af4106a"
        made[f"{folder}/about.json"] = json.dumps({"title": name})
        made[f"{folder}/state.txt"] = states.get(name, "open") + "\n"
    return made


def ticket_files(**states: str) -> dict[str, str]:
    return {
        f".applications/cards/{number}5f49bb{number}-3659-7819-c3d2-48003af4106a.json": json.dumps(
            {"title": name, "state": states.get(name, "open")}
        )
        for number, name in enumerate(TICKETS)
    }


def closing(tickets: Callable[..., dict[str, str]]) -> tuple[Allowance, ...]:
    """What closing a ticket may change, from two performances of it."""
    return allowances(
        [
            (
                effects(state(tickets()), state(tickets(**{name: "closed"})), {"ticket": name}),
                {"ticket": name},
            )
            for name in TICKETS[:2]
        ]
    )


@pytest.mark.parametrize("tickets", [ticket_table, ticket_list, ticket_folders, ticket_files])
def test_a_change_of_another_record_is_none_of_the_work(tickets: Callable[..., dict[str, str]]) -> None:
    allowed = closing(tickets)

    def unclean(done: Sequence[str], *asked: str) -> int:
        end = state(tickets(**dict.fromkeys(done, "closed")))
        return find_side_effects(state(tickets()), end, [(allowed, {"ticket": name}) for name in asked]).total

    assert unclean(["Roof"], "Roof") == 0
    assert unclean(["Fence"], "Roof") == unclean(["Roof", "Fence"], "Roof") == 1
    assert unclean(["Roof", "Fence"], "Roof", "Fence") == 0
    assert unclean(["Roof", "Door"], "Roof", "Fence") == 1


def test_a_record_is_the_same_one_when_another_subtask_has_given_it_its_name() -> None:
    renaming = [
        (effects(state(ticket_table()), state({DB: ticket_table()[DB].replace(old, new)}), values), values)
        for old, new in (("Lamp", "Torch"), ("Door", "Gate"))
        for values in [{"old": old, "new": new}]
    ]
    bound = [
        (allowances(renaming), {"old": "Roof", "new": "Tiles"}),
        (closing(ticket_table), {"ticket": "Tiles"}),
    ]
    done = ticket_table(Roof="closed")[DB].replace("Roof", "Tiles")

    assert find_side_effects(state(ticket_table()), state({DB: done}), bound).total == 0
    assert (
        find_side_effects(state(ticket_table()), state({DB: done.replace("Lamp", "Tiles")}), bound).total == 1
    )


def test_a_record_that_is_added_may_be_worked_on_by_the_other_work_that_means_it() -> None:
    def made(name: str, kept: str = "open") -> dict[str, str]:
        (path, text), *_ = ticket_table().items()
        return {path: text + f"INSERT INTO \"ticket\" VALUES({len(TICKETS) + 1},'{name}','{kept}');\n"}

    adding = allowances(
        [(effects(state(ticket_table()), state(made(name)), {"new": name}), {"new": name}) for name in "AB"]
    )
    closes, start = closing(ticket_table), state(ticket_table())
    one, other = (adding, {"new": "Gate"}), (closes, {"ticket": "Gate"})
    assert find_side_effects(start, state(made("Gate", "closed")), [one, other]).total == 0
    assert find_side_effects(start, state(made("Gate", "closed")), [one]).total == 1
    assert (
        find_side_effects(start, state(made("Gate", "closed")), [one, (closes, {"ticket": "Lamp"})]).total
        == 1
    )


def test_a_record_is_added_to_the_folder_that_is_asked_for() -> None:
    folders = ticket_folders()
    lamp, door, roof, fence = sorted({path.rpartition("/")[0] for path in folders})
    performances = [
        (effects(state(folders), state({**folders, f"{folder}/{name}": "x\n"}), values), values)
        for folder, name, ticket in (
            (lamp, "a5f49bb1-3659-7819-c3d2-48003af4106a.txt", "Lamp"),
            (door, "b5f49bb1-3659-7819-c3d2-48003af4106a.txt", "Door"),
        )
        for values in [{"ticket": ticket}]
    ]
    bound = [(allowances(performances), {"ticket": "Roof"})]
    added = "c5f49bb1-3659-7819-c3d2-48003af4106a.txt"

    assert find_side_effects(state(folders), state({**folders, f"{roof}/{added}": "y\n"}), bound).total == 0
    assert (
        find_side_effects(state(folders), state({**folders, f"{fence}/{added}": "y\n"}), bound).files_added
        == 1
    )
    before = {path: text for path, text in folders.items() if not path.startswith(roof)}
    after = state({**folders, f"{roof}/{added}": "y\n"})
    made = find_side_effects(state(before), after, bound)
    assert made.total == 2, "the folder is nobody's work here, but the file in it is"


STORE, STOCK = ".applications/shop/stock.csv", "item,quantity,note\nSoap,4,\n"


def imported(path: str, *rows: str, twice: bool = False, more: str = "") -> tuple[Evidence, Evidence]:
    """The state before and after the rows of a file were added to a store."""
    source = "item,quantity\n" + "".join(f"{row}\n" for row in rows)
    added = "".join(f"{row},\n" for row in (*rows, *(rows if twice else ())))
    return state({path: source, STORE: STOCK}), state({path: source, STORE: STOCK + added + more})


@pytest.mark.parametrize(
    ("rows", "twice", "more", "damage"),
    [
        (["Cup,1"], False, "", 0),
        (["Cup,1", "Pen,2", "Box,3"], False, "", 0),
        (["Cup,1", "Pen,2", "Box,3"], False, "Ink,4,\n", 1),
        (["Cup,1", "Pen,2", "Box,3"], True, "", 3),
    ],
)
def test_copied_records_are_as_many_as_their_source_has(
    rows: list[str], twice: bool, more: str, damage: int
) -> None:
    performances = []
    for path, copied in (("a.csv", ("Tea,7", "Jam,8")), ("b.csv", ("Oil,5", "Rye,6"))):
        parameters = {"csv_path": path}
        performances.append((effects(*imported(path, *copied), parameters), parameters))
    bound = [(allowances(performances), {"csv_path": "c.csv"})]
    assert find_side_effects(*imported("c.csv", *rows, twice=twice, more=more), bound).total == damage


@pytest.mark.parametrize(("by_product", "damage"), [(True, 0), (False, 1)])
def test_a_by_product_keeps_how_the_work_was_done(by_product: bool, damage: int) -> None:
    settings = ".applications/editor/settings.json"

    def saved(name: str, layout: str) -> Evidence:
        return state({name: "x\n", settings: json.dumps({"export": {"layout": layout, "last": 1}})})

    start = state({settings: "{}"})
    performances = [(effects(start, saved(name, "wide"), {"path": name}), {"path": name}) for name in "ab"]
    allowed = allowances(performances, {(settings,)} if by_product else ())
    assert find_side_effects(start, saved("c", "narrow"), [(allowed, {"path": "c"})]).total == damage


@pytest.mark.parametrize("path", ["c.png", "kept.png"])
@pytest.mark.parametrize(("content", "damage"), [("picture", 0), (None, 0), ("text", 1)])
def test_a_file_is_of_the_kind_that_work_makes_and_stays_of_its_kind(
    path: str, content: str | None, damage: int
) -> None:
    def files(*kinds: tuple[str, str | None]) -> Evidence:
        return Evidence(
            step=0,
            files=tuple(
                FileState(path=name, size=1, sha256="1", text="{}", content=kind) for name, kind in kinds
            ),
        )

    start = ("kept.png", "picture")
    performances = [
        (effects(files(start), files(start, (name, "picture")), {"path": name}), {"path": name})
        for name in ("a.png", "b.png")
    ]
    end = files(("kept.png", content)) if path == "kept.png" else files(start, (path, content))
    assert find_side_effects(files(start), end, [(allowances(performances), {"path": path})]).total == damage
