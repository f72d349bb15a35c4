"""Dependency judge by rule: reads the instruction alone, as a careful reader would, and never sees a graph.

Finds the passage of each subtask in the text, then looks at what introduces it (a result it needs, or that it is
independent) and at what the text says it gives. A text that names no results is read by its connectives ("after
that") and by names that an earlier passage makes and a later one uses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from offline.resource_phrases import GIVES, NEEDS, THEN, embedded, names, quoted, split_phrases
from prompts.inputs import DependencyJudgeInput, NumberedSubtask
from prompts.replies import DependencyJudgeReply, DependencyPair

_NEEDS = re.compile(rf"(?:{'|'.join(NEEDS)}|After|As soon as there is|When you have) (.+)", re.DOTALL)
_THEN = re.compile(rf"^\W*(?:{'|'.join(THEN)}), ")
_PLACE = re.compile(r", in [^“”]*$")
_ALONE = re.compile(r"independent|separately|in parallel|in any order|regardless", re.IGNORECASE)
_AFTERWARDS = re.compile(
    r"\b(then|after that|afterwards|next|once (?:that|this) is done|finally)\b", re.IGNORECASE
)
_MAKES = re.compile(
    r"\b(create|make|add|save|write|export|download|draw|copy|cut|rename|generate|record|new)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'([^']{2,})'|\"([^\"]{2,})\"|“([^”]{2,})”|`([^`]{2,})`")
_PATH = re.compile(r"\b[\w-]+(?:/[\w.-]+)+")
_WORD = re.compile(r"[\w./-]+")


@dataclass(frozen=True, slots=True)
class _Passage:
    number: int
    lead: str
    body: str
    tail: str


def infer(view: DependencyJudgeInput) -> DependencyJudgeReply:
    """The direct dependencies that the words of the instruction state."""
    passages = _passages(view)
    states_results = GIVES in view.instruction or any(_NEEDS.search(item.lead) for item in passages)
    pairs: list[DependencyPair] = []
    for position, passage in enumerate(passages):
        earlier = passages[:position]
        if _ALONE.search(passage.lead):
            continue
        producers = _stated(passage, earlier)
        if earlier and _THEN.search(passage.lead):
            producers.add(earlier[-1].number)
        if not states_results:
            producers |= _understood(passage, earlier)
        pairs += [DependencyPair(before=number, after=passage.number) for number in sorted(producers)]
    return DependencyJudgeReply(dependencies=pairs)


def _stated(passage: _Passage, earlier: list[_Passage]) -> set[int]:
    found = _NEEDS.search(passage.lead)
    if found is None:
        return set()
    wanted = _PLACE.sub("", found.group(1))
    producers: set[int] = set()
    for name in split_phrases(wanted):
        giving = [item for item in earlier if name in split_phrases(item.tail.partition(GIVES)[2])]
        naming = [item for item in earlier if names(item.body, quoted(name))]
        producers.update(item.number for item in (giving or naming)[-1:])
    return producers


def _understood(passage: _Passage, earlier: list[_Passage]) -> set[int]:
    producers = set()
    if earlier and _AFTERWARDS.search(passage.lead):
        producers.add(earlier[-1].number)
    for name in _names(passage.body):
        for candidate in reversed(earlier):
            if name in _names(candidate.body) and _MAKES.search(candidate.body):
                producers.add(candidate.number)
                break
    return producers


def _names(text: str) -> set[str]:
    quoted = {next(group for group in match.groups() if group) for match in _QUOTED.finditer(text)}
    return quoted | {match.group() for match in _PATH.finditer(text)}


def _passages(view: DependencyJudgeInput) -> list[_Passage]:
    """The text cut into one passage per subtask, in the order of the text."""
    text = view.instruction
    sentences = _sentences(text)
    taken: list[tuple[int, int]] = []
    spans: list[tuple[int, int, int]] = []
    for subtask in sorted(view.subtasks, key=lambda item: -len(item.instruction)):
        span = _verbatim(subtask, text, taken) or _closest(subtask, text, sentences, taken)
        if span is not None:
            taken.append(span)
            spans.append((*span, subtask.number))
    spans.sort()
    passages, previous_end = [], 0
    for index, (start, end, number) in enumerate(spans):
        limit = spans[index + 1][0] if index + 1 < len(spans) else len(text)
        tail_end = end + _sentence_end(text[end:limit])
        passages.append(_Passage(number, text[previous_end:start], text[start:end], text[end:tail_end]))
        previous_end = tail_end
    return passages


def _verbatim(subtask: NumberedSubtask, text: str, taken: list[tuple[int, int]]) -> tuple[int, int] | None:
    wanted = embedded(subtask.instruction, subtask.application).lower()
    lowered = text.lower()
    if len(lowered) != len(text):
        return None
    start = lowered.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not any(start < other_end and other_start < end for other_start, other_end in taken):
            return start, end
        start = lowered.find(wanted, start + 1)
    return None


def _closest(
    subtask: NumberedSubtask, text: str, sentences: list[tuple[int, int]], taken: list[tuple[int, int]]
) -> tuple[int, int] | None:
    words = set(_WORD.findall(subtask.instruction.lower())) | set(_WORD.findall(subtask.application.lower()))
    best, best_share = None, 0.4
    for start, end in sentences:
        share = len(words & set(_WORD.findall(text[start:end].lower()))) / max(1, len(words))
        if share > best_share and not any(start < b and a < end for a, b in taken):
            best, best_share = (start, end), share
    return best


def _sentence_end(tail: str) -> int:
    """Length of `tail` up to the end of its first sentence; full stops inside a quoted name do not end it."""
    outside = re.sub(r"“[^”]*”", lambda match: "x" * len(match.group()), tail)
    match = re.search(r"[.!?](?=\s|$)", outside)
    return match.end() if match else len(tail)


def _sentences(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    while start < len(text):
        end = start + _sentence_end(text[start:])
        spans.append((start, end))
        start = end
    return spans
