"""How varied instructions are: distinct n-grams, self-BLEU, and how near the nearest neighbour is."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from taskloom.resources.record import Record

_WORD = re.compile(r"\w+(?:[./_-]\w+)*|[^\w\s]")
_COMPARED = 300
"""Most texts that are compared with each other; of more a sample is drawn."""


class VarietyFigures(Record):
    """How varied a set of texts is."""

    texts: int
    """Texts counted."""
    words: float
    """Words of a text, on average."""
    distinct_1: float
    """Different words over all words (Li et al. 2016)."""
    distinct_2: float
    """Different pairs of words over all pairs."""
    self_bleu_4: float
    """Mean BLEU-4 of a text with all the others as references (Zhu et al. 2018); 1 if texts repeat each
    other."""
    nearest_overlap: float
    """Share of word pairs in common with the nearest other text (Jaccard), on average."""


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case.

    >>> words_of("Export sales.csv, please.")
    ['export', 'sales.csv', ',', 'please', '.']
    """
    return _WORD.findall(text.casefold())


def variety_of(texts: Sequence[str]) -> VarietyFigures | None:
    """The figures of `texts`; None of none. Of many texts a sample is compared with each other, always the
    same.

    >>> figures = variety_of(["Open it.", "Open it."])
    >>> (figures.texts, figures.distinct_1, figures.nearest_overlap)
    (2, 0.5, 1.0)
    """
    if not texts:
        return None
    words = [words_of(text) for text in texts]
    sample = words if len(words) <= _COMPARED else Random(0).sample(words, _COMPARED)
    return VarietyFigures(
        texts=len(texts),
        words=sum(map(len, words)) / len(words),
        distinct_1=_distinct(words, 1),
        distinct_2=_distinct(words, 2),
        self_bleu_4=_self_bleu(sample, 4),
        nearest_overlap=_nearest(sample),
    )


def _grams(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


def _distinct(texts: Sequence[Sequence[str]], size: int) -> float:
    found = [gram for words in texts for gram in _grams(words, size)]
    return len(set(found)) / len(found) if found else 0.0


def _self_bleu(texts: Sequence[Sequence[str]], longest: int) -> float:
    """Mean BLEU of each text against the others, with the highest counts of any, smoothed by 1e-9."""
    if len(texts) < 2:
        return 0.0
    logarithms = [0.0] * len(texts)
    for size in range(1, longest + 1):
        counted = [Counter(_grams(words, size)) for words in texts]
        best: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for number, counts in enumerate(counted):
            for gram, count in counts.items():
                best.setdefault(gram, []).append((count, number))
        for gram in best:
            best[gram] = sorted(best[gram], reverse=True)[:2]
        for number, counts in enumerate(counted):
            matched = sum(
                min(count, next((most for most, other in best[gram] if other != number), 0))
                for gram, count in counts.items()
            )
            total = sum(counts.values())
            logarithms[number] += math.log(max(matched / total if total else 0.0, 1e-9)) / longest
    return sum(math.exp(value) for value in logarithms) / len(texts)


def _nearest(texts: Sequence[Sequence[str]]) -> float:
    if len(texts) < 2:
        return 0.0
    pairs = [frozenset(_grams(words, 2)) for words in texts]
    nearest = []
    for number, one in enumerate(pairs):
        others = (*pairs[:number], *pairs[number + 1 :])
        nearest.append(max(len(one & other) / len(one | other) if one | other else 1.0 for other in others))
    return sum(nearest) / len(nearest)
