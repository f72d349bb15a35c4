"""What a dataset still lacks of a standing request."""

from __future__ import annotations

from taskloom.flows.nights.choices import remaining_request
from taskloom.resources.dimensions import Cell
from taskloom.synthesis.composition.request import CompositionRequest, Quota
from taskloom.taskgraph.measures.per_dimension import LevelConstraint

EASY: Cell = ("easy", "easy", "easy", "easy", "easy")
WIDE: Cell = ("easy", "easy", "easy", "easy", "medium")
DEEP: Cell = ("easy", "easy", "easy", "hard", "easy")


def test_a_count_is_how_many_tasks_there_should_be_in_all() -> None:
    request = CompositionRequest(count=5, maximum_size=3)
    left = remaining_request(request, [EASY] * 3)
    assert left is not None
    assert (left.wanted, left.maximum_size) == (2, 3)
    assert remaining_request(request, [EASY] * 5) is None
    assert remaining_request(request, [EASY] * 9) is None


def test_a_task_fills_the_first_quota_that_has_room_for_it() -> None:
    deep = Quota(levels=LevelConstraint(hierarchy=("hard",)), count=2, name="deep")
    request = CompositionRequest(quotas=(deep, Quota(count=3)))
    left = remaining_request(request, [DEEP, DEEP, DEEP, EASY])
    assert left is not None
    assert [(quota.name, quota.count) for quota in left.quotas] == [("", 1)]
    assert remaining_request(request, [DEEP] * 5) is None
    only_easy = remaining_request(request, [EASY] * 9)
    assert only_easy is not None and [quota.name for quota in only_easy.quotas] == ["deep"]


def test_quotas_per_level_keep_equal_sums() -> None:
    request = CompositionRequest(
        level_quotas={"hierarchy": {"easy": 2, "hard": 2}, "branch": {"easy": 3, "medium": 1}}
    )
    left = remaining_request(request, [DEEP, DEEP, DEEP])
    assert left is not None
    assert left.level_quotas["hierarchy"] == {"easy": 2, "hard": 0}
    assert sum(left.level_quotas["branch"].values()) == left.wanted == 2
    assert remaining_request(request, [EASY, EASY, DEEP, DEEP, WIDE]) is None
