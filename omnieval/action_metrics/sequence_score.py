"""Sequence score of OmniACT (section 4.1, equation 1): whether the predicted actions are the recorded
ones.

An example whose actions have the recorded names in the recorded order scores β₁ + β₂ · (s − 1), with s
its number of actions, β₁ = 0.1 and β₂ = 1; any other scores 0. The value is the sum over the examples as
a share of what the recorded actions themselves would score, as in Table 4.
"""

from collections.abc import Sequence

from taskloom.omnieval.action_examples import Example, Statement

_FIRST = 0.1
_FURTHER = 1.0


def measure(examples: Sequence[Example]) -> float | None:
    """The share, 0 to 1; None without whole tasks."""
    most = sum(ideal_score(example.gold) for example in examples if example.whole)
    return sum(score(example) for example in examples if example.whole) / most if most else None


def score(example: Example) -> float:
    """The sequence score of one example."""
    same = [item.name for item in example.gold] == [item.name for item in example.predicted]
    return ideal_score(example.gold) if same else 0.0


def ideal_score(gold: Sequence[Statement]) -> float:
    """What the recorded actions score.

    >>> ideal_score([Statement("click")] * 3)
    2.1
    """
    return _FIRST + _FURTHER * (len(gold) - 1) if gold else 0.0
