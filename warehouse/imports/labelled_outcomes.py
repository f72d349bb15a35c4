"""Labelled outcomes: verdicts of evaluation functions on work independently known to be right or wrong.

A JSON file with a list `outcomes`, as `python -m benchmarks.labelled_work --report` writes it, or JSON Lines
with one outcome each. Importing a function's verdict on a case again replaces it.
"""

from collections.abc import Iterator
from pathlib import Path

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import JudgedOutcome, outcome_id
from taskloom.warehouse.importing.items import (
    IMPORTED,
    BrokenItem,
    ForeignModel,
    Item,
    Items,
    Records,
    Text,
    check_items,
    items_of,
)
from taskloom.warehouse.importing.json_reading import collection_files


class _Outcome(ForeignModel):
    case_id: Text
    subtask_id: Text
    function_id: Text
    kind: Text
    """Such as `wrong content` or `another route`."""
    right: bool
    """Whether the work is right."""
    accepted: bool
    """Whether the function reported success."""
    application: str = ""
    message: str = ""


def read(path: Path) -> Records:
    """The outcomes of a file, or of the JSON files of a folder; refused if one holds no list of them."""
    yield from check_items(_items(path), _name, _records, kind="evaluation_function")


def _items(path: Path) -> Items:
    for item in items_of(collection_files(path)):
        if isinstance(item, BrokenItem) or item.place:
            yield item
            continue
        outcomes = item.value.get("outcomes") if isinstance(item.value, dict) else None
        if not isinstance(outcomes, list):
            raise item.refusal("outcomes", "must be a list of outcomes")
        for number, outcome in enumerate(outcomes):
            yield Item(item.file, outcome, f"outcomes[{number}]")


def _name(item: Item) -> str:
    outcome = item.parse(_Outcome)
    return outcome_id(outcome.case_id, outcome.function_id)


def _records(item: Item, name: str) -> Iterator[Record]:
    outcome = item.parse(_Outcome)
    yield JudgedOutcome(
        outcome_id=name,
        application=outcome.application or outcome.subtask_id.partition(".")[0],
        provenance=IMPORTED,
        **outcome.model_dump(exclude={"application"}),
    )
