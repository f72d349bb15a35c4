"""What is asked of work in a database of an application that keeps books beside it: a history, an index of
words, one-time tokens, who changed what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from taskloom.evaluators_api.state.account import find_side_effects
from taskloom.synthesis.cross_verification.agreement import agreeing
from taskloom.synthesis.cross_verification.clean_work import allowances_of
from taskloom.synthesis.examination.subject import subject_of
from taskloom.taskgraph.records.evidence import FileState
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, file, recording

STORE = ".applications/library/store.db"
TABLES = {
    "shelf": ('"id" PRIMARY KEY, "label"', ["1, 'History'", "2, 'Poetry'", "3, 'Travel'"]),
    "book": (
        '"id" PRIMARY KEY, "title", "shelf", "editor"',
        ["1, 'Old maps', 3, 1", "2, 'Quiet verses', 2, 1", "3, 'Harbour towns', 3, 1"],
    ),
    "remark": ('"id" PRIMARY KEY, "text"', ["1, 'Worn'"]),
    "about": ('"remark" PRIMARY KEY, "book" PRIMARY KEY', ["1, 1"]),
    "history": ('"id" PRIMARY KEY, "book", "field", "was"', ["1, 1, 'title', 'Maps'"]),
    "next": ('"table" PRIMARY KEY, "number"', ["'book', 4", "'remark', 2"]),
    "words": ('"word", "book"', ["'OLD', 1", "'MAPS', 1", "'QUIET', 2", "'VERSES', 2", "'OLD', 3"]),
    "token": ('"key" PRIMARY KEY, "until"', []),
}
TOKENS = count(1)
Rows = Mapping[str, Iterable[str]]


def store(new: Rows, gone: Rows | None = None, *, shown: int = 50) -> FileState:
    """The tables with `new` rows in front and `gone` ones left out, of which evidence holds `shown`."""
    lines = []
    for name, (columns, rows) in TABLES.items():
        held = [*new.get(name, ()), *(row for row in rows if row not in (gone or {}).get(name, ()))]
        lines.append(f'CREATE TABLE "{name}"({columns}); -- {len(held)} rows')
        lines += [f'INSERT INTO "{name}" VALUES({row});' for row in held[:shown]]
    return file(STORE, "\n".join(lines) + "\n")


def done(
    name: str, parameters: dict[str, str], new: Rows, gone: Rows | None = None, shown: int = 50
) -> Trajectory:
    number = next(TOKENS)
    token = [f"'k{number}Qx7Zr2Lm9Tw4Bv{number}', '17957{number:05}.5'"]
    end = store({**new, "token": token}, gone, shown=shown)
    return recording(
        f"library.{name}",
        parameters,
        [click("Save", files=(end,))],
        start={"files": (store({}, shown=shown),)},
        instruction=f"Do {name} with {', '.join(parameters.values())}.",
    )


def remarked(title: str, book: int, shelf: int, label: str, remark: str) -> Trajectory:
    """A book is made, on a shelf, with a remark."""
    new = {
        "book": [f"4, '{title}', {shelf}, 7"],
        "remark": [f"2, '{remark}'"],
        "about": ["2, 4"],
        "history": [f"{book}, 4, 'made', NULL"],
        "next": ["'book', 5", "'remark', 3"],
        "words": [f"'{word.upper()}', 4" for word in title.split()],
    }
    return done(
        "add_book", {"title": title, "label": label, "remark": remark}, new, {"next": TABLES["next"][1]}
    )


def retitled(title: str, number: int, shelf: int, new_title: str, shown: int = 50) -> Trajectory:
    old = f"{number}, '{title}', {shelf}, 1"
    new = {
        "book": [f"{number}, '{new_title}', {shelf}, 7"],
        "history": [f"2, {number}, 'title', '{title}'"],
        "words": [f"'{word.upper()}', {number}" for word in new_title.split()],
    }
    lost = {"book": [old], "words": [f"'{word.upper()}', {number}" for word in title.split()]}
    return done("retitle", {"title": title, "new_title": new_title}, new, lost, shown)


def asked(*performances: Trajectory) -> set[str]:
    found = subject_of(performances[0], performances[1:]).required
    return {"/".join((item.address[0], *item.address[3:])) for item in found}


def test_a_number_is_the_record_that_a_parameter_names_and_links_to_it_are_asked_for() -> None:
    performances = (
        remarked("Night trains", 2, 3, "Travel", "From the estate"),
        remarked("Small odes to rain", 2, 2, "Poetry", "Signed"),
    )
    wanted = {"book", "book/title", "book/shelf", "remark", "remark/text"}
    assert asked(*performances) == {*wanted, "about", "about/remark", "about/book"}


def test_history_index_tokens_and_who_did_it_are_not_asked_for() -> None:
    performances = (
        retitled("Old maps", 1, 3, "Maps of the coast"),
        retitled("Quiet verses", 2, 2, "Verses"),
        retitled("Old maps", 1, 3, "Maps of the coast"),
    )
    assert asked(*performances) == {"book/title"}


def test_performances_agree_whatever_number_of_words_an_index_gains_or_loses() -> None:
    performances = (
        retitled("Old maps", 1, 3, "Maps of the coast", shown=6),
        retitled("Quiet verses", 2, 2, "Verses", shown=6),
    )
    assert len(agreeing(performances, 2)) == 2


def shelved(
    title: str, number: int, old: int, shelf: int, label: str, also: Rows | None = None
) -> Trajectory:
    """A book is put on a shelf; `also` is what comes with it where something else was there."""
    new = {"book": [f"{number}, '{title}', {shelf}, 1"], "history": [f"2, {number}, 'shelf', NULL"]}
    lost = {"book": [f"{number}, '{title}', {old}, 1"]}
    return done("shelve", {"title": title, "label": label}, {**new, **(also or {})}, lost)


def test_what_only_one_set_brings_about_each_time_depends_on_what_was_there() -> None:
    also = {"about": ["1, 2"]}
    sets = [
        shelved("Old maps", 1, 3, 1, "History"),
        shelved("Quiet verses", 2, 2, 3, "Travel", also),
    ]
    once = [*sets, shelved("Old maps", 1, 3, 1, "History")]
    twice = [*once, shelved("Quiet verses", 2, 2, 3, "Travel", also)]
    assert len(agreeing(once, 3)) == 0
    assert len(agreeing(twice, 4)) == 4


def test_sets_do_not_agree_where_what_they_have_in_common_does_not_tell_a_parameter() -> None:
    done_alike = [shelved("Quiet verses", 2, 2, 1, "History") for _ in range(2)]
    already_there = [shelved("Old maps", 1, 3, 3, "Travel") for _ in range(2)]
    assert len(agreeing([*done_alike, *already_there], 4)) == 0


def test_any_number_of_tokens_may_come_with_the_work_but_not_of_records() -> None:
    performances = [retitled("Old maps", 1, 3, "Maps of the coast"), retitled("Quiet verses", 2, 2, "Verses")]
    allowed = allowances_of(performances)
    attempt = retitled("Old maps", 1, 3, "Harbours")
    again = {"token": [f"'z{number}Yk4Pw{number}', '18000000.{number}'" for number in range(3)]}
    row = {"book": ["1, 'Harbours', 3, 7"], "history": ["2, 1, 'title', 'Old maps'"]}
    old = {"book": ["1, 'Old maps', 3, 1"]}
    clean = store({**row, **again}, old)
    more = store({**row, **again, "remark": ["2, 'Harbours'"]}, old)

    def beside(end: FileState) -> int:
        final = attempt.final_evidence.model_copy(update={"files": (end,)})
        return find_side_effects(attempt.initial_evidence, final, [(allowed, attempt.parameters)]).total

    assert beside(clean) == 0
    assert beside(more) == 1


def test_a_changed_number_is_asked_for_beside_a_log_that_names_the_record_but_no_counter_is() -> None:
    def marked(title: str, book: int) -> Trajectory:
        def tables(read: int, entries: int) -> FileState:
            rows = [f"{number}, {read if number == book else 3}" for number in (1, 2)]
            lines = ['CREATE TABLE "state"("book" PRIMARY KEY, "read");']
            lines += [f'INSERT INTO "state" VALUES({row});' for row in rows]
            lines += ['CREATE TABLE "next"("table" PRIMARY KEY, "number");']
            lines += [f"INSERT INTO \"next\" VALUES('log', {7 + entries});"]
            lines += ['CREATE TABLE "log"("id" PRIMARY KEY, "what");']
            lines += [f"INSERT INTO \"log\" VALUES(7, 'marked {title}');"] * entries
            return file(STORE, "\n".join(lines) + "\n")

        return recording(
            "library.mark",
            {"title": title},
            [click("Mark", files=(tables(5, 1),))],
            start={"files": (tables(3, 0),)},
            instruction=f"Mark {title}.",
        )

    subject = subject_of(marked("Old maps", 1), [marked("Quiet verses", 2)])
    places = {"/".join(effect.address) for effect in subject.required}
    assert "state/rows/1/read" in places and not any(place.startswith("next") for place in places)
