"""Right work is clean, and damage beside it is seen, whatever it is: on recordings of real work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from taskloom.environments.environment import Environment
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.resources.noise import NoisePlace
from taskloom.synthesis.cross_verification.clean_work import side_effects
from taskloom.synthesis.cross_verification.function_writing import VerificationSettings
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.kept_recordings import kept_recordings
from tests.synthesis.models import TestModels
from tests.synthesis.recordings import click, file, recording
from tests.synthesis.simulated_world import APPLICATIONS, SimulatedEnvironments, World
from tests.synthesis.spoilt_environments import Spoilt, SpoiltEnvironments

KEPT = kept_recordings()
SHOP = ".applications/sqlite_web/shop.db"
Damage = Callable[[dict[str, str]], None]


def in_shop(old: str, new: str) -> Damage:
    def edit(files: dict[str, str]) -> None:
        assert old in files[SHOP]
        files[SHOP] = files[SHOP].replace(old, new, 1)

    return edit


def in_file(path: str, change: Callable[[str], str]) -> Damage:
    def edit(files: dict[str, str]) -> None:
        files[path] = change(files[path])

    return edit


def without(path: str) -> Damage:
    def edit(files: dict[str, str]) -> None:
        del files[path]

    return edit


def all_of(*edits: Damage) -> Damage:
    def edit(files: dict[str, str]) -> None:
        for one in edits:
            one(files)

    return edit


ROW = "INSERT INTO \"orders\" VALUES(3, 3, 'Desk', 240.0);\n"
ORDERS = '"amount"); -- 4 rows'
DAMAGE: dict[str, Damage] = {
    "a file is lost": without("Documents/budget.csv"),
    "a file is empty": in_file("Documents/budget.csv", lambda _: ""),
    "a file is cut": in_file("Documents/contacts.json", lambda text: text[: len(text) // 2]),
    "a file has another name": lambda files: files.update(
        {"Documents/b.csv": files.pop("Documents/budget.csv")}
    ),
    "a file is there twice": lambda files: files.update({"Documents/b.csv": files["Documents/budget.csv"]}),
    "a file has the content of another": lambda files: files.update(
        {"Documents/budget.csv": files["Documents/sales.csv"]}
    ),
    "a line more": in_file("Documents/budget.csv", lambda text: f"{text}Extra,1\n"),
    "a line less": in_file("Documents/sales.csv", lambda text: "".join(text.splitlines(keepends=True)[:-1])),
    "another letter": in_file("Documents/contacts.json", lambda text: text.replace("a", "b", 1)),
    "a new file": lambda files: files.update({"Documents/new.txt": "new"}),
    "a row is lost": all_of(in_shop(ROW, ""), in_shop(ORDERS, ORDERS.replace("4", "3"))),
    "a row is lost where the work adds one": all_of(
        in_shop("INSERT INTO \"customers\" VALUES(1, 'Ada', 'London');\n", ""),
        in_shop('"city"); -- 4 rows', '"city"); -- 3 rows'),
    ),
    "a row is there twice": all_of(
        in_shop(ROW, ROW + ROW.replace("(3,", "(9,")), in_shop(ORDERS, ORDERS.replace("4", "5"))
    ),
    "a further row where the work adds one": in_shop(
        'INSERT INTO "customers" VALUES(1,',
        "INSERT INTO \"customers\" VALUES(9, 'Zoe', 'Oslo');\nINSERT INTO \"customers\" VALUES(1,",
    ),
    "another value": in_shop("240.0", "250.0"),
    "an empty value": in_shop("'Desk'", "''"),
    "two values of a row exchanged": in_shop("VALUES(4, 2, 'Lamp'", "VALUES(2, 4, 'Lamp'"),
    "a value of two rows exchanged": all_of(
        in_shop("3, 'Desk', 240.0", "3, 'Chair', 240.0"), in_shop("1, 'Chair', 89.0", "1, 'Desk', 89.0")
    ),
    "a table is lost": all_of(
        in_shop('CREATE TABLE "inventory"("item", "quantity"); -- 1 row\n', ""),
        in_shop("INSERT INTO \"inventory\" VALUES('Shelf', 7);\n", ""),
    ),
    "a new table": in_shop(
        'CREATE TABLE "orders"', 'CREATE TABLE "copied"("item"); -- 0 rows\nCREATE TABLE "orders"'
    ),
    "a row moved to another table": all_of(
        in_shop("INSERT INTO \"budget\" VALUES('Savings', 200);\n", ""),
        in_shop('"budget"("category", "amount"); -- 1 row', '"budget"("category", "amount"); -- 0 rows'),
        in_shop('"sales"("region", "amount"); -- 1 row', '"sales"("region", "amount"); -- 2 rows'),
        in_shop('INSERT INTO "sales"', 'INSERT INTO "sales" VALUES(\'Savings\', 200);\nINSERT INTO "sales"'),
    ),
}
SESSIONS = ("sessions", "training_sessions", "history", "log")


def damaged(performance: Trajectory, damage: Damage) -> Trajectory:
    """The performance, with something else changed at its end."""
    last = performance.steps[-1]
    texts = {item.path: item.text or "" for item in last.evidence.files}
    damage(texts)
    kept = {item.path: item for item in last.evidence.files}
    files = tuple(
        kept[path] if path in kept and kept[path].text == text else file(path, text)
        for path, text in sorted(texts.items())
    )
    step = last.model_copy(update={"evidence": last.evidence.model_copy(update={"files": files})})
    return performance.model_copy(update={"steps": (*performance.steps[:-1], step)})


@pytest.mark.parametrize("name", KEPT)
def test_recorded_right_work_is_clean(name: str) -> None:
    assert side_effects(KEPT[name].trajectories()) == {}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_beside_right_work_is_seen(kind: str) -> None:
    right, other = KEPT["sqlite_web.insert_customer"].trajectories()
    seen = side_effects([right, damaged(other, DAMAGE[kind])])
    assert other.trajectory_id in seen


@pytest.mark.parametrize("table", SESSIONS)
@pytest.mark.parametrize("kind", ["a row is lost", "a row is there twice"])
def test_what_a_table_is_called_decides_nothing(table: str, kind: str) -> None:
    def renamed(item: Trajectory) -> Trajectory:
        text = item.model_dump_json().replace("orders", table)
        return Trajectory.model_validate_json(text)

    right, other = KEPT["sqlite_web.insert_customer"].trajectories()
    assert other.trajectory_id in side_effects([renamed(right), renamed(damaged(other, DAMAGE[kind]))])


class Overwriting(Spoilt):
    """An environment in which work also changes a time in a file of the user."""

    async def evidence(self) -> Evidence:
        found = await self._environment.evidence()
        minute = self.acts if self._spoil else 0
        more = file("Documents/plan.json", f'{{"due": "2026-11-05T10:{10 + minute}:00Z"}}')
        return found.model_copy(update={"files": (*found.files, more)})


class OverwritingEnvironments(SpoiltEnvironments):
    """The first performance is clean, the later ones are not."""

    def made(self, environment: Environment, _: str) -> Spoilt:
        return Overwriting(environment, "later" if self.leased else "")


async def test_a_subtask_whose_performances_do_damage_is_rejected_for_it(
    shared_sandbox: EvaluationSandbox,
) -> None:
    notes = {"simulated_notes": APPLICATIONS["simulated_notes"]}
    world = World(
        TestModels(notes),
        shared_sandbox,
        notes,
        environments=OverwritingEnvironments(SimulatedEnvironments(), ""),  # type: ignore[arg-type]
        verification=VerificationSettings(),
    )
    done = (await world.verify("simulated_notes.write_note"))["simulated_notes.write_note"]
    assert done.verified is None and done.rejection is not None
    assert done.rejection.reason == "side_effects"
    assert "plan.json" in done.rejection.message
    assert done.functions == ()


CACHE = NoisePlace(container=".applications/wiki/cache.db", address=("pages", "rows", "*"), kind="added")


def edited(page: str, seen: str, other: str = "", now: str = "2026-11-05 10:00:00.25") -> Trajectory:
    """A line is added to a page, whose copy in the cache of looked-at pages is made, or renewed if `seen`."""

    def cache(time: str, more: str) -> FileState:
        rows = [f"INSERT INTO \"pages\" VALUES('{page}', '{time}');\n"] if time else []
        rows += [f"INSERT INTO \"users\" VALUES('ann', '{more}');\n"]
        head = f'CREATE TABLE "pages"("name" PRIMARY KEY, "made"); -- {len(rows) - 1} rows\n'
        return file(
            CACHE.container,
            head + 'CREATE TABLE "users"("id" PRIMARY KEY, "mail"); -- 1 row\n' + "".join(rows),
        )

    text = f".applications/wiki/{page}.md"
    start = {"files": (file(text, "hello\n"), cache(seen, "a@b.org")), "noise": (CACHE,)}
    end = (file(text, "hello\nbye\n"), cache(now, other or "a@b.org"))
    return recording("wiki.extend", {"page": page}, [click("Save", files=end)], start=start)


def test_what_looking_adds_is_renewed_where_it_was_looked_at_before() -> None:
    first, second = edited("Alder", seen=""), edited("Beech", seen="2026-11-05 09:00:00.50")
    assert side_effects([first, second]) == {}
    spoilt = edited("Beech", seen="2026-11-05 09:00:00.50", other="c@d.org")
    assert "mail" in side_effects([first, spoilt])[spoilt.trajectory_id]
    lost = edited("Beech", seen="2026-11-05 09:00:00.50", now="")
    assert "removed" in side_effects([first, lost])[lost.trajectory_id], "looking loses nothing"
    unmeasured = [
        item.model_copy(update={"initial_evidence": item.initial_evidence.model_copy(update={"noise": ()})})
        for item in (first, second)
    ]
    assert side_effects(unmeasured)
