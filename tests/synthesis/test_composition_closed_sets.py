"""Which sets of subtasks become tasks: closed ones with an order in which nothing is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from taskloom.resources.categories import ResourceKind
from taskloom.synthesis.composition.pool.compiled_pool import Fixtures
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent, Task
from tests.synthesis.compositions import Pool, chain_pool, composed
from tests.taskgraph.small_graphs import clipboard, file, node


def test_finds_every_closed_set_of_a_small_intent() -> None:
    nodes, intents, fixtures = chain_pool("a", "b", "c", "d")
    tasks, account = composed((nodes, intents, fixtures), count=50, minimum_size=1)
    assert {len(task.graph.nodes) for task in tasks} == {1, 2, 3, 4}
    assert len(tasks) == 4
    assert account.shortfalls[0].kind == "used_up"


def test_equals_brute_force_over_all_subsets_of_a_group(pool: Pool) -> None:
    nodes, _, fixtures = pool
    group = [item for item in nodes if item.subtask_id < "subtask_011"][:12]
    group = list({item.instance_id: item for item in group}.values())
    intent = Intent(intent_id="i", text="", subtask_ids=tuple({item.subtask_id for item in group}))
    expected = set()
    for size in range(1, 5):
        for chosen in combinations(group, size):
            if closed(chosen, fixtures) and not wasteful(chosen):
                expected.add(frozenset(item.instance_id for item in chosen))
    tasks, _ = composed(
        (group, [intent], fixtures), count=5000, minimum_size=1, maximum_size=4, maximum_components=4
    )
    assert {frozenset(item.instance_id for item in task.graph.nodes) for task in tasks} == expected


def wasteful(chosen: Sequence[BoundSubtask]) -> bool:
    """Whether somebody copies what nobody of the set reads."""
    return any(
        made.kind is ResourceKind.CLIPBOARD and not any(made in other.inputs for other in chosen)
        for item in chosen
        for made in item.outputs
    )


def test_what_is_copied_and_never_pasted_is_in_no_task() -> None:
    nodes = [
        node("write", outputs=(file("a.txt"),)),
        node("copy", inputs=(file("a.txt"),), outputs=(clipboard("a"), file("log.txt"))),
        node("paste", inputs=(clipboard("a"),), outputs=(file("b.txt"),)),
        node("read", inputs=(file("log.txt"),)),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks, _ = composed((nodes, [intent], {}), count=20, minimum_size=1)
    found = {frozenset(item.subtask_id for item in task.graph.nodes) for task in tasks}
    assert found == {
        frozenset(names.split()) for names in ("write", "write copy paste", "write copy paste read")
    }


def test_everything_in_a_task_hangs_together_unless_more_components_are_asked_for() -> None:
    nodes = [
        node("one", outputs=(file("1"),)),
        node("two", outputs=(file("2"),)),
        node("of one", inputs=(file("1"),)),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks, _ = composed((nodes, [intent], {}), count=9)
    assert [{item.subtask_id for item in task.graph.nodes} for task in tasks] == [{"one", "of one"}]
    tasks, _ = composed((nodes, [intent], {}), count=9, maximum_components=2)
    assert sorted(task.complexity.components for task in tasks) == [1, 2, 2]


def closed(chosen: Sequence[BoundSubtask], fixtures: Fixtures) -> bool:
    written = [resource for item in chosen for resource in set(item.outputs)]
    if len(set(written)) < len(written) or len({item.instance_id for item in chosen}) < len(chosen):
        return False
    placed: set[str] = set()
    while True:
        ready = [
            item
            for item in chosen
            if item.instance_id not in placed
            and all(
                any(needed in other.outputs and other.instance_id in placed for other in chosen)
                or (needed in fixtures[item.application] and needed not in written)
                for needed in item.inputs
            )
        ]
        if not ready:
            return len(placed) == len(chosen)
        placed.update(item.instance_id for item in ready)


def test_a_slot_without_a_document_takes_over_that_of_its_producer() -> None:
    book = file("book.csv", "csv_path")
    nodes = [
        node("copy", inputs=(book,), outputs=(clipboard(),)),
        node("paste", inputs=(clipboard(),), outputs=(file("letter.txt"),)),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=("copy", "paste"))
    tasks, _ = composed((nodes, [intent], {"editor": frozenset({book})}), count=5)
    (edge,) = tasks[0].graph.edges
    assert edge.resource == clipboard("book.csv")


def test_two_documents_are_not_linked_to_each_others_readers() -> None:
    books = [file(f"{name}.csv", "csv_path") for name in "ab"]
    nodes = [node(f"copy {book.value}", inputs=(book,), outputs=(clipboard(),)) for book in books]
    nodes += [node(f"paste {n}", inputs=(clipboard(),), outputs=(file(f"{n}.txt"),)) for n in (1, 2)]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks, _ = composed((nodes, [intent], {"editor": frozenset(books)}), count=200, maximum_components=4)
    crossed = [
        task
        for task in tasks
        if len({edge.producer for edge in task.graph.edges}) == 2 and len(task.graph.nodes) == 4
    ]
    assert crossed
    for task in crossed:
        assert (task.order_count, task.successful_order_count) == (6, 2)
        assert {item.kind for item in task.interferences} == {"overwritten_slot"}
        for edge in task.graph.edges:
            assert edge.resource.value in edge.producer


def test_a_set_without_a_successful_order_is_left_out_and_the_clash_named() -> None:
    nodes = [
        node("copy a", outputs=(clipboard("a"),)),
        node("copy b", inputs=(clipboard("a"),), outputs=(clipboard("b"),)),
        node("compare", inputs=(clipboard("a"), clipboard("b"))),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks, account = composed((nodes, [intent], {}), count=5)
    assert tasks == []
    assert account.without_successful_order == 1
    assert (
        "copy b overwrites text_in_clipboard a of copy a, which compare still needs" in account.example_clash
    )


def test_groups_with_cyclic_links_are_enumerated_too() -> None:
    nodes = [
        node("stop", inputs=(file("running"),), outputs=(file("stopped"),)),
        node("start", inputs=(file("stopped"),), outputs=(file("running"),)),
        node("look", inputs=(file("running"),)),
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=("stop", "start", "look"))
    fixtures = {"editor": frozenset({file("running"), file("stopped")})}
    tasks, _ = composed((nodes, [intent], fixtures), count=20, minimum_size=1, maximum_components=2)
    found = {frozenset(item.instance_id for item in task.graph.nodes) for task in tasks}
    assert found == {
        frozenset(names) for names in (("stop",), ("start",), ("look",), ("stop", "look"), ("start", "look"))
    }


def test_every_input_is_a_fixture_or_has_exactly_one_producer(pool: Pool, hundred_tasks: list[Task]) -> None:
    for task in hundred_tasks:
        for item in task.graph.nodes:
            for needed in item.inputs:
                producers = [
                    edge.producer
                    for edge in task.graph.edges
                    if edge.consumer == item.instance_id and edge.resource == needed
                ]
                assert len(producers) == 1 or (not producers and needed in pool[2][item.application])


def test_no_resource_has_two_producers_in_one_task(hundred_tasks: list[Task]) -> None:
    for task in hundred_tasks:
        written = Counter(resource for item in task.graph.nodes for resource in set(item.outputs))
        assert max(written.values()) == 1
