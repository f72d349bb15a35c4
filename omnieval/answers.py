"""What protocols share, and how answers are compared: exactly, by inclusion, or by value."""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from taskloom.taskgraph.records.task import Question
from taskloom.taskgraph.text_folding import fold_text

_NOT_POSSIBLE = ("N/A", "the task is infeasible")
_QUOTED = re.compile(r"(?:```|‘‘‘|''')\s*Answer:(.*?)(?:```|‘‘‘|’’’|''')", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d[\d,.' ]*\d|[-+]?\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolLimits:
    """Where attempts end under a protocol."""

    steps: int = 0
    """Most steps of an attempt; 0 for `steps_per_subtask`."""
    steps_per_subtask: int = 30
    """Most steps for each subtask of the longest task, where `steps` says nothing."""
    patience: int = 0
    """Steps without a completed subtask that end an attempt; 0 for no such end."""


def quoted_answer(said: str) -> str:
    """The last answer in the form that the notes ask for; empty if there is none.

    >>> quoted_answer("Done. ```Answer:42```"), quoted_answer("42")
    ('42', '')
    """
    found = _QUOTED.findall(said)
    return found[-1].strip() if found else ""


def is_right(question: Question, answer: str) -> bool:
    """Whether `answer` is one of the right ones, by the question's rule.

    `exact`: equal but for case, width and spaces; `includes`: every right text stands in it as whole words;
    `value`: its only number is the right one. Nothing is no answer.

    >>> three = Question(text="How many?", answers=("3",), match="value")
    >>> is_right(three, "There are 3.0 of them"), is_right(three, "3 or 4"), is_right(three, "13")
    (True, False, False)
    """
    said = fold_text(answer)
    if not said:
        return False
    if question.match == "value":
        numbers = {_value(text) for text in _NUMBER.findall(answer)} - {None}
        return numbers == {_value(question.answers[0])}
    if question.match == "includes":
        wanted = map(fold_text, question.answers)
        return all(text and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) for text in wanted)
    return said in {fold_text(text) for text in question.answers}


def says_impossible(answer: str) -> bool:
    """Whether an answer says that the task cannot be done.

    >>> says_impossible("n/a"), says_impossible("The N/A key")
    (True, False)
    """
    return fold_text(answer).strip(" .") in map(fold_text, _NOT_POSSIBLE)


def _value(text: str) -> Decimal | None:
    plain = re.sub(r"[ ']", "", text)
    if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    try:
        return Decimal(plain.replace(",", ".")).normalize()
    except InvalidOperation:
        return None
