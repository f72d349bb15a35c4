"""Pools are bound to parameter sets; values flow between subtasks where that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.compiled_pool import compile_pool
from taskloom.synthesis.composition.pool.instances import bind_pool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from tests.taskgraph.small_graphs import clipboard, file, node

CATEGORIES = load_resource_categories()


def subtask(
    name: str,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    fresh: tuple[str, ...] = (),
    parameters: tuple[dict[str, str], ...] = ({},),
) -> Subtask:
    return Subtask(
        subtask_id=name,
        application="editor",
        application_category="Office",
        instruction_template=" ".join([name, *(f"{{{key}}}" for key in parameters[0])]),
        available_parameters=parameters,
        inputs=tuple(ResourceDeclaration(category="csv_path", parameter=item) for item in inputs),
        outputs=tuple(ResourceDeclaration(category="csv_path", parameter=item) for item in outputs),
        fresh=fresh,
    )


def test_binds_every_parameter_set_and_says_what_cannot_be_bound() -> None:
    good = subtask("good", outputs=("path",), parameters=({"path": "a.csv"}, {"path": "b.csv"}))
    bad = subtask("bad", inputs=("missing",), parameters=({"path": "a.csv"},))
    nodes, problems = bind_pool([good, bad], CATEGORIES)
    assert [item.outputs[0].value for item in nodes] == ["a.csv", "b.csv"]
    assert len(problems) == 1
    assert problems[0].startswith("bad: ")


def links(nodes: Sequence[BoundSubtask]) -> set[tuple[str, str, str]]:
    return {
        (writer.subtask_id, reader.subtask_id, resource.value)
        for writer in nodes
        for resource in writer.outputs
        for reader in nodes
        if resource in reader.inputs
    }


def test_a_slot_carries_its_document_through_several_subtasks() -> None:
    book = file("book.csv", "csv_path")
    image = Resource(category="image_in_clipboard", kind=clipboard().kind)
    nodes = [
        node("open", inputs=(book,), outputs=(clipboard(),)),
        node("turn into an image", inputs=(clipboard(),), outputs=(image,)),
    ]
    pool = compile_pool(nodes, {"editor": frozenset({book})})
    carried = {item.node.subtask_id: item.node.outputs[0].value for item in pool.instances}
    assert carried == {"open": "book.csv", "turn into an image": "book.csv"}


def test_the_order_of_the_pool_and_doubles_in_it_do_not_matter() -> None:
    nodes = [node("b", outputs=(file("x"),)), node("a", inputs=(file("x"),))]
    assert compile_pool(nodes, {}).instances == compile_pool([*nodes[::-1], nodes[0]], {}).instances


def test_fixtures_of_other_applications_do_not_count() -> None:
    old = file("old")
    reader = node("read", application="editor", inputs=(old,))
    request = CompositionRequest(count=1, minimum_size=1)
    assert list(compose([reader], [], request, fixtures={"player": frozenset({old})})) == []
    assert len(list(compose([reader], [], request, fixtures={"": frozenset({old})}))) == 1
