"""Every intent is composed or says why not, and what links are missing is said for an explorer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.measures.per_dimension import LevelConstraint
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import EndProduct, Intent
from tests.synthesis.compositions import composed
from tests.taskgraph.small_graphs import file, node


def team(name: str) -> Resource:
    return Resource(category="team_name", kind=ResourceKind.RECORD, value=name, application="app")


def wanting(*products: BoundSubtask, group: Sequence[BoundSubtask]) -> Intent:
    return Intent(
        intent_id="wanted",
        text="Have it done",
        subtask_ids=tuple(item.subtask_id for item in group),
        end_products=tuple(EndProduct(instance_id=item.instance_id) for item in products),
    )


def large_pool() -> list[BoundSubtask]:
    """Many makers and readers, of which draws would hardly choose one pair."""
    return [
        item
        for number in range(60)
        for item in (
            node(f"make{number}", outputs=(file(f"f{number}"),)),
            node(f"read{number}", inputs=(file(f"f{number}"),), outputs=(file(f"g{number}"),)),
            node(f"end{number}", inputs=(file(f"g{number}"),), outputs=(file(f"h{number}"),)),
        )
    ]


@pytest.mark.parametrize("number", [0, 17, 59])
def test_the_task_of_an_intent_is_made_first_however_few_are_wanted(number: int) -> None:
    pool = large_pool()
    end = next(item for item in pool if item.subtask_id == f"end{number}")
    tasks, account = composed((pool, [wanting(end, group=pool)], {}), count=1)
    (task,) = tasks
    assert task.intent_id == "wanted"
    assert {item.subtask_id for item in task.graph.nodes} == {
        f"{what}{number}" for what in ("make", "read", "end")
    }
    assert not account.not_composed and not account.missing_links


def test_what_a_fixture_provides_is_made_where_the_end_product_alone_is_no_task() -> None:
    make, read = node("make", outputs=(file("f"),)), node("read", inputs=(file("f"),), outputs=(file("g"),))
    tasks, account = composed(([make, read], [wanting(read, group=[make, read])], {"": {file("f")}}), count=1)
    assert [item.subtask_id for item in tasks[0].graph.nodes] == ["make", "read"]
    assert not account.not_composed


def test_an_intent_that_cannot_be_served_says_what_nobody_makes() -> None:
    make = node("make", outputs=(team("North"),))
    other, read = node("other", inputs=(team("North"),)), node("read", inputs=(team("South"),))
    pool = [make, other, read]
    _, account = composed((pool, [wanting(read, group=pool)], {}), count=5)
    (missing,) = account.not_composed
    assert "`read` reads the team_name 'South', which no verified subtask makes" in missing.reason


def test_work_of_one_subtask_and_work_beyond_the_limits_are_said_to_be_that() -> None:
    alone = node("alone", inputs=(file("there"),), outputs=(file("x"),))
    make, read = node("make", outputs=(file("f"),)), node("read", inputs=(file("f"),), outputs=(file("g"),))
    last = node("last", inputs=(file("g"),), outputs=(file("h"),))
    pool, fixtures = [alone, make, read, last], {"": {file("there")}}
    _, account = composed((pool, [wanting(alone, group=pool)], fixtures), count=5)
    assert "work of `alone` alone" in account.not_composed[0].reason
    _, account = composed((pool, [wanting(last, group=pool)], fixtures), count=5, maximum_size=2)
    assert "more than 2 subtasks" in account.not_composed[0].reason
    gone = wanting(last, group=pool).model_copy(update={"end_products": (EndProduct(instance_id="gone:1"),)})
    _, account = composed((pool, [gone], fixtures), count=5)
    assert "this pool has no `gone`" in account.not_composed[0].reason


def test_an_intent_whose_task_an_earlier_run_made_says_so() -> None:
    make, read = node("make", outputs=(file("f"),)), node("read", inputs=(file("f"),), outputs=(file("g"),))
    pool = [make, read]
    (task,), _ = composed((pool, [wanting(read, group=pool)], {}), count=1)
    tasks, account = composed((pool, [wanting(read, group=pool)], {}), count=1, known={task.task_id})
    assert tasks == [] and "an earlier run" in account.not_composed[0].reason


def test_where_the_limits_allow_no_wanted_levels_no_set_of_an_intent_is_tried() -> None:
    make, read = node("make", outputs=(file("f"),)), node("read", inputs=(file("f"),), outputs=(file("g"),))
    hard = LevelConstraint(branch=("hard",))
    pool = [make, read]
    tasks, account = composed((pool, [wanting(read, group=pool)], {}), count=5, maximum_size=2, within=hard)
    assert tasks == [] and account.not_composed[0].reason.startswith("no set was tried: ")


def test_advice_names_what_nobody_reads_and_what_nobody_makes_with_the_values() -> None:
    """Nine subtasks of one application whose records never meet: the advice is what to propose next."""
    makers = [node(f"app.create{n}", outputs=(team(f"Team {n}"),), application="app") for n in range(5)]
    readers = [node(f"app.close{n}", inputs=(team("Old team"),), application="app") for n in range(4)]
    _, account = composed(([*makers, *readers], [], {"app": {team("Old team")}}), count=5)
    unread, unmade = account.missing_links
    assert (unread.application, unread.category) == ("app", "team_name")
    assert unread.advice.startswith("Nobody reads the team_name made by `create0`, `create1`")
    assert "'Team 0', 'Team 1'" in unread.advice and "team_name as an input" in unread.advice
    assert unmade.advice.startswith("Nobody makes the team_name that is read by `close0`")
    assert "'Old team'" in unmade.advice


def test_an_application_whose_records_link_gives_a_task_for_every_two_subtasks() -> None:
    makers = [node(f"app.create{n}", outputs=(team(f"Team {n}"),), application="app") for n in range(3)]
    readers = [
        node(f"app.{deed}{n}", inputs=(team(f"Team {n}"),), application="app")
        for n in range(3)
        for deed in ("note", "close")
    ]
    pool = [*makers, *readers]
    tasks, _ = composed(
        (pool, [], {}), count=20, maximum_readers=2, maximum_ends=2, near_duplicate_share=0.75
    )
    assert 2 * len(tasks) >= len(pool)
