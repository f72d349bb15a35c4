"""Equal rejections are told apart, the same way every time."""

from pathlib import Path

from taskloom.flows.stages.results import number_repetitions
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.store import Warehouse

SAME = Rejection(item_kind="intent", item_id="Tidy up", stage="intents", reason="duplicate", message="again")
OTHER = SAME.model_copy(update={"message": "unknown subtask"})


def test_each_of_several_equal_rejections_is_a_row_of_its_own() -> None:
    found = number_repetitions([SAME, OTHER, SAME, SAME])
    assert [item.details for item in found] == [{}, {}, {"occurrence": "2"}, {"occurrence": "3"}]
    assert found[:2] == [SAME, OTHER]
    assert number_repetitions([SAME, OTHER, SAME, SAME]) == found


def test_items_add_up_in_the_warehouse(tmp_path: Path) -> None:
    with Warehouse(tmp_path / "warehouse") as store:
        for _ in range(2):  # a resumed run says the same again
            store.write(number_repetitions([SAME, OTHER, SAME, SAME]))
        assert store.count(Rejection) == 4
