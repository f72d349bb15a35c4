"""Share of single steps whose predicted action is a right one: the recorded one, or another that the
task's graph allows at that moment.

An action is right that is of the same kind, in the same control, with the same keys or text, whatever
its letter case.
"""

from collections.abc import Sequence

from taskloom.omnieval.action_examples import Example, Statement


def measure(examples: Sequence[Example]) -> float | None:
    """The share; None where only whole tasks are compared."""
    asked = [example for example in examples if example.gold and not example.whole]
    return sum(map(_right, asked)) / len(asked) if asked else None


def _right(example: Example) -> bool:
    return any(
        len(example.predicted) >= len(right)
        and all(matches(gold, said) for gold, said in zip(right, example.predicted, strict=False))
        for right in (example.gold, *example.also_right)
        if right
    )


def matches(gold: Statement, predicted: Statement) -> bool:
    """Whether a predicted statement does what the recorded one does."""
    return (
        gold.name == predicted.name
        and gold.holds(predicted.point)
        and set(gold.keys) == set(predicted.keys)
        and gold.text.strip().casefold() == predicted.text.strip().casefold()
    )
