"""Subtasks take what others make, whatever its name; names follow from names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.worlds import load_world
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.instances import bind_pool, fixtures_at_reset
from taskloom.synthesis.composition.pool.linking import linked
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask

CATEGORIES = load_resource_categories()


def subtask(
    name: str, parameters: Sequence[dict[str, str]], *, reads: str = "", makes: str = "", fresh: str = ""
) -> Subtask:
    def declared(items: str) -> tuple[ResourceDeclaration, ...]:
        pairs = [item.split("=") for item in items.split()]
        return tuple(ResourceDeclaration(category=category, parameter=value) for category, value in pairs)

    return Subtask(
        subtask_id=name,
        application="editor",
        application_category="Office",
        instruction_template=" ".join([name, *(f"{{{key}}}" for key in parameters[0])]),
        available_parameters=tuple(parameters),
        inputs=declared(reads),
        outputs=declared(makes),
        fresh=tuple(fresh.split()),
    )


WRITE = subtask("write", [{"path": "Documents/stock.csv"}], makes="csv_path=path", fresh="path")
MOVE = subtask(
    "move",
    [{"path": "Documents/sales.csv", "moved": "Downloads/sales.csv"}],
    reads="csv_path=path",
    makes="csv_path=moved",
)
COUNT = subtask(
    "count",
    [{"path": "Documents/sales.csv", "text": "number.txt"}],
    reads="csv_path=path",
    makes="text_path=text",
)
SHOW = subtask("show", [{"path": "Documents/sales.csv"}], reads="csv_path=path")


def more(*subtasks: Subtask, most: int = 100, seed: int = 0) -> list[BoundSubtask]:
    pool, _ = bind_pool(subtasks, CATEGORIES)
    return linked(pool, {item.subtask_id: item for item in subtasks}, CATEGORIES, most=most, seed=seed)


def test_an_input_takes_what_another_subtask_makes() -> None:
    (instance,) = more(WRITE, SHOW)
    assert instance.parameters == {"path": "Documents/stock.csv"}
    assert instance.inputs[0].value == "Documents/stock.csv"


def test_what_is_named_after_the_input_is_named_after_the_new_one_and_read_on() -> None:
    found = {(item.subtask_id, *item.parameters.values()) for item in more(WRITE, MOVE, SHOW)}
    assert found == {
        ("move", "Documents/stock.csv", "Downloads/stock.csv"),
        ("show", "Documents/stock.csv"),
        ("show", "Downloads/sales.csv"),
        ("show", "Downloads/stock.csv"),
    }


def test_a_product_with_a_name_of_its_own_is_not_made_from_something_else() -> None:
    assert more(WRITE, COUNT) == []


def test_a_record_is_not_taken_to_be_named_after_a_file() -> None:
    takes_in = subtask(
        "import",
        [{"path": "Documents/sales.csv", "table": "sales"}],
        reads="csv_path=path",
        makes="table_name=table",
    )
    assert more(WRITE, takes_in) == []
    assert more(WRITE, takes_in.model_copy(update={"fresh": ("table",)}))[0].parameters["table"] == "stock"


@pytest.mark.parametrize(
    ("given", "name"),
    [("number.txt", "stock_number.txt"), ("SalesNumber", "Stock"), ("Numbers to know", "Stock")],
)
def test_what_may_have_any_name_is_called_after_the_product_in_the_form_of_the_example(
    given: str, name: str
) -> None:
    free = COUNT.model_copy(
        update={"fresh": ("text",), "available_parameters": ({"path": "Documents/sales.csv", "text": given},)}
    )
    assert [item.parameters for item in more(WRITE, free)] == [{"path": "Documents/stock.csv", "text": name}]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Downloads/agenda.txt", "Downloads/budget.txt"),
        ("Papers for Monday", "The budget"),
        ("a.txt", "budget_a.txt"),
    ],
)
def test_in_a_world_the_name_of_another_thing_is_replaced_and_a_title_is_what_people_say(
    given: str, name: str
) -> None:
    write = subtask("write", [{"path": "Documents/budget.csv"}], makes="csv_path=path", fresh="path")
    free = COUNT.model_copy(
        update={"fresh": ("text",), "available_parameters": ({"path": "Documents/sales.csv", "text": given},)}
    )
    pool, _ = bind_pool([write, free], CATEGORIES)
    subtasks = {"write": write, "count": free}
    (found,) = linked(pool, subtasks, CATEGORIES, most=9, worlds={"": load_world("")})
    assert found.parameters == {"path": "Documents/budget.csv", "text": name}


def test_what_was_made_is_no_place_for_the_things_of_an_example() -> None:
    makes = subtask("create", [{"title": "Ideas"}], makes="page_title=title", fresh="title")
    attach = subtask(
        "attach",
        [{"path": "Documents/sales.csv", "page": "Files"}],
        reads="csv_path=path page_title=page",
    )
    found = more(makes, attach, WRITE)
    assert [item.parameters for item in found] == [{"path": "Documents/stock.csv", "page": "Files"}]


@pytest.mark.parametrize("kind", ["other_category", "own_product"])
def test_nothing_of_another_kind_is_taken_and_no_subtask_goes_on_with_its_own_product(kind: str) -> None:
    if kind == "other_category":
        assert more(subtask("draw", [{"path": "a.svg"}], makes="svg_path=path", fresh="path"), SHOW) == []
    else:
        assert more(MOVE) == []


def test_the_number_is_limited_and_the_draw_is_repeated_by_its_seed() -> None:
    assert len(more(WRITE, MOVE, SHOW, most=3)) <= 3
    assert more(WRITE, MOVE, SHOW, most=3, seed=1) == more(WRITE, MOVE, SHOW, most=3, seed=1)
    assert more(WRITE, MOVE, SHOW, most=0) == []


def test_the_catalogue_composes_deeper_graphs_with_links() -> None:
    applications = {
        name: item
        for name, item in load_applications().items()
        if name in ("mousepad", "thunar", "gnumeric", "geany", "supervisor")
    }
    subtasks = [
        Subtask.of(example, item, origin="curated")
        for item in applications.values()
        for example in item.example_subtasks
    ]
    pool, _ = bind_pool(subtasks, CATEGORIES)
    further = linked(pool, {item.subtask_id: item for item in subtasks}, CATEGORIES, most=150)

    def depths(nodes: Sequence[BoundSubtask]) -> list[int]:
        tasks = compose(
            nodes,
            [],
            CompositionRequest(count=60),
            fixtures=fixtures_at_reset(applications.values(), CATEGORIES),
            sense=Sense.of(subtasks, applications),
        )
        return [task.complexity.depth for task in tasks]

    without, within = depths(pool), depths([*pool, *further])
    assert max(within) >= 5 > max(without)
