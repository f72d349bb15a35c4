"""Action score of OmniACT (section 4.2, equations 2 to 6): the sequence score less its penalties.

A penalty counts as much as one action of its example, α = score / s. A place costs α · (1 − μ / (μ +
d)), where d is its distance to the control's box and μ the inverse of the box's diagonal; wrong keys
cost α; a text costs α · (1 − BLEU). What remains of an example is at least 0, and the value is the sum
over what the recorded actions would score, as in Table 4, where the score is the sequence score less the
three penalties.

The evaluator that was published with the dataset takes the diagonal itself for μ, which is milder and
contradicts the paper's text; the paper's is computed here. BLEU is that of words, up to as many in a row
as the shorter text has, at most four.
"""

from collections import Counter
from collections.abc import Sequence
from math import exp, hypot, log

from taskloom.omnieval.action_examples import Example, Statement, distance
from taskloom.omnieval.action_metrics.sequence_score import ideal_score, score

_LONGEST_RUN = 4


def measure(examples: Sequence[Example]) -> float | None:
    """The share, 0 to 1; None without whole tasks."""
    most = sum(ideal_score(example.gold) for example in examples if example.whole)
    return sum(_left(example) for example in examples if example.whole) / most if most else None


def penalty(gold: Statement, predicted: Statement) -> float:
    """What one action costs, as a share of α: 0 where it is right.

    >>> gold = Statement("click", (5, 5), box=(0, 0, 3, 4))
    >>> penalty(gold, Statement("click", (3, 4))), round(penalty(gold, Statement("click", (4, 4))), 4)
    (0.0, 0.8333)
    """
    if gold.point is not None and gold.box is not None:
        if predicted.point is None:
            return 1.0
        left, top, right, bottom = gold.box
        mu = 1 / max(1.0, hypot(right - left, bottom - top))
        return 1 - mu / (mu + distance(gold, predicted.point))
    if gold.keys:
        return 0.0 if set(gold.keys) == set(predicted.keys) else 1.0
    if gold.name == "write":
        return 1 - bleu(gold.text, predicted.text)
    return 0.0


def bleu(wanted: str, said: str) -> float:
    """BLEU of one sentence with one reference, by words.

    >>> bleu("a new note", "a new note"), bleu("a new note", ""), round(bleu("one two", "one two three"), 4)
    (1.0, 0.0, 0.5774)
    """
    wanted_words, said_words = wanted.split(), said.split()
    if not wanted_words or not said_words:
        return float(wanted_words == said_words)
    longest = min(_LONGEST_RUN, len(wanted_words), len(said_words))
    logs = []
    for length in range(1, longest + 1):
        there, found = _runs(wanted_words, length), _runs(said_words, length)
        common = sum((there & found).values())
        if not common:
            return 0.0
        logs.append(log(common / sum(found.values())))
    brevity = min(1.0, exp(1 - len(wanted_words) / len(said_words)))
    return brevity * exp(sum(logs) / longest)


def _left(example: Example) -> float:
    """What is left of the score of an example."""
    whole = score(example)
    if not whole:
        return 0.0
    alpha = whole / len(example.gold)
    pairs = zip(example.gold, example.predicted, strict=True)
    return max(0.0, whole - alpha * sum(penalty(gold, predicted) for gold, predicted in pairs))


def _runs(words: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + length]) for start in range(len(words) - length + 1))
