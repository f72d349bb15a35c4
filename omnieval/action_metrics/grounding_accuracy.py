"""Share of recorded places at which the predicted action of the same number and kind lies in the same
control, as in ScreenSpot and OmniACT's click accuracy."""

from collections.abc import Sequence

from taskloom.omnieval.action_examples import Example


def measure(examples: Sequence[Example]) -> float | None:
    """The share; None where nothing recorded has a place."""
    hits = [
        place < len(example.predicted)
        and example.predicted[place].name == gold.name
        and gold.holds(example.predicted[place].point)
        for example in examples
        for place, gold in enumerate(example.gold)
        if gold.point is not None
    ]
    return sum(hits) / len(hits) if hits else None
