"""What a text says beyond the subtasks that it asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskloom.offline.reading.forms import shown

_SMALL_WORDS = frozenset(
    [
        "a",
        "about",
        "again",
        "all",
        "also",
        "an",
        "and",
        "any",
        "anything",
        "are",
        "as",
        "ask",
        "at",
        "be",
        "because",
        "been",
        "before",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "done",
        "each",
        "else",
        "ever",
        "everything",
        "favour",
        "few",
        "first",
        "finally",
        "following",
        "for",
        "from",
        "get",
        "got",
        "had",
        "has",
        "have",
        "he",
        "help",
        "here",
        "hi",
        "hello",
        "how",
        "i",
        "i'd",
        "i'll",
        "i'm",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "kind",
        "kindly",
        "know",
        "last",
        "later",
        "least",
        "less",
        "let",
        "like",
        "ll",
        "lot",
        "made",
        "make",
        "making",
        "many",
        "may",
        "me",
        "mine",
        "more",
        "most",
        "much",
        "must",
        "my",
        "need",
        "needs",
        "new",
        "next",
        "nice",
        "no",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "one",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "please",
        "quick",
        "rather",
        "really",
        "request",
        "same",
        "see",
        "she",
        "should",
        "so",
        "some",
        "soon",
        "start",
        "still",
        "such",
        "take",
        "than",
        "thank",
        "thanks",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "thing",
        "things",
        "this",
        "those",
        "through",
        "to",
        "together",
        "too",
        "two",
        "up",
        "us",
        "use",
        "using",
        "very",
        "want",
        "wants",
        "was",
        "way",
        "we",
        "well",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "wish",
        "with",
        "would",
        "yes",
        "you",
        "your",
        "after",
        "afterwards",
        "addition",
        "besides",
        "besides",
        "moreover",
        "furthermore",
        "separately",
        "independently",
        "regardless",
        "meanwhile",
        "end",
        "finish",
        "both",
        "first",
        "second",
        "third",
    ]
)
_WORD = re.compile(r"[^\s,.;:!?()]+(?:[.:][^\s,.;:!?()]+)*")
_MOST = 2
"""Words of some meaning that may be left over in a sentence."""


def leftovers(text: str, spans: Sequence[tuple[int, int]], known: Sequence[str]) -> list[str]:
    """Passages of `text` outside of `spans` that say more than that something is asked for; `known` words say
    nothing.

    A passage is more if it has several words that are not among the small ones, or a name.
    """
    covered = [False] * len(text)
    for start, end in spans:
        covered[start:end] = [True] * (end - start)
    known_words = {word.casefold() for item in known for word in item.split()}
    found, current = [], list[str]()
    position = 0
    for match in _WORD.finditer(text):
        if covered[match.start()] or re.search(r"[.?!]\s", text[position : match.start()]):
            found.append(current)
            current = []
        if not covered[match.start()]:
            word = match.group().strip("'’")
            if word.casefold() not in _SMALL_WORDS and word.casefold() not in known_words:
                current.append(word)
        position = match.end()
    found.append(current)
    return [
        shown(" ".join(words))
        for words in found
        if len(words) > _MOST or any(word[:1] in "“`" or "/" in word for word in words)
    ]
