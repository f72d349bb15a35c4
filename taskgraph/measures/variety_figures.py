"""Variety of instructions: distinct n-grams, self-BLEU, and overlap with the nearest neighbour."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from taskloom.resources.record import Record

_WORD = re.compile(r"\w+(?:[./_-]\w+)*|[^\w\s]")
_MAXIMUM_COMPARED = 300
"""Maximum number of texts compared with each other; if there are more, a sample is drawn."""


class VarietyFigures(Record):
    """Figures on the variety of a set of texts."""

    texts: int
    """Number of texts."""
    words: float
    """Mean number of words per text."""
    distinct_1: float
    """Different words over all words (Li et al. 2016)."""
    distinct_2: float
    """Different pairs of words over all pairs."""
    self_bleu_4: float
    """Mean BLEU-4 of each text with all others as references (Zhu et al. 2018); 1 if all texts are equal."""
    nearest_overlap: float
    """Mean share of word pairs in common with the nearest other text (Jaccard)."""


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case.

    >>> words_of("Export sales.csv, please.")
    ['export', 'sales.csv', ',', 'please', '.']
    """
    return _WORD.findall(text.casefold())


def variety_of(texts: Sequence[str]) -> VarietyFigures | None:
    """The figures of `texts`; None without texts. Of many texts, only a fixed sample is compared.

    >>> figures = variety_of(["Open it.", "Open it."])
    >>> (figures.texts, figures.distinct_1, figures.nearest_overlap)
    (2, 0.5, 1.0)
    """
    if not texts:
        return None
    words = [words_of(text) for text in texts]
    sample = words if len(words) <= _MAXIMUM_COMPARED else Random(0).sample(words, _MAXIMUM_COMPARED)
    return VarietyFigures(
        texts=len(texts),
        words=sum(map(len, words)) / len(words),
        distinct_1=_distinct(words, 1),
        distinct_2=_distinct(words, 2),
        self_bleu_4=_self_bleu(sample, 4),
        nearest_overlap=_mean_nearest_overlap(sample),
    )


def _ngrams(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


def _distinct(texts: Sequence[Sequence[str]], size: int) -> float:
    grams = [gram for words in texts for gram in _ngrams(words, size)]
    return len(set(grams)) / len(grams) if grams else 0.0


def _self_bleu(texts: Sequence[Sequence[str]], longest: int) -> float:
    """Mean BLEU of each text against the others, with the highest counts of any of them, smoothed by 1e-9."""
    if len(texts) < 2:
        return 0.0
    logarithms = [0.0] * len(texts)
    for size in range(1, longest + 1):
        all_counts = [Counter(_ngrams(words, size)) for words in texts]
        highest: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for number, counts in enumerate(all_counts):
            for gram, count in counts.items():
                highest.setdefault(gram, []).append((count, number))
        for gram in highest:
            highest[gram] = sorted(highest[gram], reverse=True)[:2]
        for number, counts in enumerate(all_counts):
            matched = sum(
                min(count, next((most for most, other in highest[gram] if other != number), 0))
                for gram, count in counts.items()
            )
            total = sum(counts.values())
            logarithms[number] += math.log(max(matched / total if total else 0.0, 1e-9)) / longest
    return sum(math.exp(value) for value in logarithms) / len(texts)


def _mean_nearest_overlap(texts: Sequence[Sequence[str]]) -> float:
    if len(texts) < 2:
        return 0.0
    pairs = [frozenset(_ngrams(words, 2)) for words in texts]
    overlaps = []
    for number, one in enumerate(pairs):
        others = (*pairs[:number], *pairs[number + 1 :])
        overlaps.append(max(len(one & other) / len(one | other) if one | other else 1.0 for other in others))
    return sum(overlaps) / len(overlaps)
