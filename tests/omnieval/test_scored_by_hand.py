"""Ten attempts scored by hand from the definitions of the paper (section 4.1), with the arithmetic.

Coverage rate: a subtask weighs its depth over the sum of all depths; roots have depth 1. Logical consistency:
adjacent pairs of one application in the order of completion, over the most pairs of any successful order.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from taskloom.omnieval.scoring import score_of
from taskloom.taskgraph.records.graph import TaskGraph
from tests.taskgraph.small_graphs import clipboard, file, linked, node, shaped

# a -> b -> c, in the applications m, m, n. Depths 1, 2, 3: sum 6. The only order a b c has one pair (a b).
CHAIN = shaped((0, 0b1, 0b10), "mmn")
# s0 -> s1, s2 -> s3 in applications m, m, n, n. Depths 1, 2, 2, 3: sum 8. s0 s1 s2 s3 is m m n n, 2 pairs;
# s0 s2 s1 s3 is m n m n: none. The maximum is 2.
DIAMOND = shaped((0, 0b1, 0b1, 0b110), "mmnn")
# Two chains, s0 -> s2 and s1 -> s3, in the applications m, n, m, n. Depths 1, 1, 2, 2: sum 6. s0 s2 s1 s3 is
# m m n n: 2 pairs, the maximum; s0 s1 s2 s3 is m n m n: none; s0 s1 s3 s2 is m n n m: 1.
CHAINS = shaped((0, 0, 0b1, 0b10), "mnmn")
# Four independent subtasks in m, m, m, n. All depths 1: sum 4. m m m n has 2 pairs, the maximum.
LOOSE = shaped((0, 0, 0, 0), "mmmn")
# Two copies, each pasted from the one clipboard: c0 -> p0, c1 -> p1, in the applications m, m, n, n. Without
# the clipboard c0 c1 p0 p1 (m m n n) would have 2 pairs; but c1 overwrites what p0 pastes. Successful are
# c0 p0 c1 p1 (m n m n) and c1 p1 c0 p0 alone: 0 pairs, so consistency is undefined.
COPIES = linked(
    node("s0", application="m", outputs=(clipboard("x"),)),
    node("s1", application="m", outputs=(clipboard("y"),)),
    node("s2", application="n", inputs=(clipboard("x"),), outputs=(file("x.txt"),)),
    node("s3", application="n", inputs=(clipboard("y"),), outputs=(file("y.txt"),)),
)


@dataclass(frozen=True)
class ByHand:
    """One attempt with its scores."""

    graph: TaskGraph
    done: str
    coverage: float
    consistency: float | None
    success: bool = False


ATTEMPTS = {
    "a chain done": ByHand(CHAIN, "012", (1 + 2 + 3) / 6, 1 / 1, True),
    "a chain left after two": ByHand(CHAIN, "01", (1 + 2) / 6, 1 / 1),
    "a chain left after one": ByHand(CHAIN, "0", 1 / 6, 0 / 1),
    "a diamond in its best order": ByHand(DIAMOND, "0123", (1 + 2 + 2 + 3) / 8, 2 / 2, True),
    "a diamond in its worst order": ByHand(DIAMOND, "0213", (1 + 2 + 2 + 3) / 8, 0 / 2, True),
    "a diamond without its end": ByHand(DIAMOND, "012", (1 + 2 + 2) / 8, 1 / 2),
    "two chains, mixed once": ByHand(CHAINS, "0132", (1 + 1 + 2 + 2) / 6, 1 / 2, True),
    "one chain of two": ByHand(CHAINS, "02", (1 + 2) / 6, 1 / 2),
    "three of four, one change between": ByHand(LOOSE, "031", 3 / 4, 0 / 2),
    "two copies, one pasted in time": ByHand(COPIES, "021", (1 + 2 + 1) / 6, None),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_scores_are_those_worked_out_by_hand(attempt: ByHand) -> None:
    score = score_of(attempt.graph, [f"s{number}" for number in attempt.done])
    assert score.coverage_rate == pytest.approx(attempt.coverage)
    assert score.logical_consistency == attempt.consistency
    assert score.success is attempt.success
