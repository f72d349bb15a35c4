"""Equal rejections told apart, so that items add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from taskloom.taskgraph.records.task import Rejection


def told_apart(rejections: Iterable[Rejection]) -> list[Rejection]:
    """The rejections, with repetitions of equal ones numbered.

    The warehouse keeps equal rows once, so that a resumed run may repeat itself; but a model may propose the
    same goal twice, and both count.
    """
    seen: Counter[str] = Counter()
    found = []
    for item in rejections:
        content = item.model_dump_json()
        seen[content] += 1
        if seen[content] > 1:
            item = item.model_copy(update={"details": {**item.details, "occurrence": str(seen[content])}})
        found.append(item)
    return found
