"""Parts that protocols share, and how answers are compared: exactly, by inclusion, or by value."""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from taskloom.taskgraph.records.task import Question
from taskloom.taskgraph.text_folding import fold_text

_IMPOSSIBLE = ("N/A", "the task is infeasible")
_QUOTED = re.compile(r"(?:```|‘‘‘|''')\s*Answer:(.*?)(?:```|‘‘‘|’’’|''')", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d[\d,.' ]*\d|[-+]?\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolLimits:
    """A protocol's limits on attempts."""

    steps: int = 0
    """Maximum steps of an attempt; 0 for `steps_per_subtask`."""
    steps_per_subtask: int = 30
    """Maximum steps for each subtask of the longest task, if `steps` is 0."""
    patience: int = 0
    """Steps without a completed subtask that end an attempt; 0 for no such limit."""


def quoted_answer(text: str) -> str:
    """The last answer in the form that the protocol `notes` requires; empty if there is none.

    >>> quoted_answer("Done. ```Answer:42```"), quoted_answer("42")
    ('42', '')
    """
    answers = _QUOTED.findall(text)
    return answers[-1].strip() if answers else ""


def is_right(question: Question, answer: str) -> bool:
    """Whether `answer` is right by the question's rule.

    `exact`: equal except for case, width and spaces; `includes`: it contains every right text as whole words;
    `value`: its only number is the right one. An empty answer is always wrong.

    >>> three = Question(text="How many?", answers=("3",), match="value")
    >>> is_right(three, "There are 3.0 of them"), is_right(three, "3 or 4"), is_right(three, "13")
    (True, False, False)
    """
    folded = fold_text(answer)
    if not folded:
        return False
    if question.match == "value":
        numbers = {_value(text) for text in _NUMBER.findall(answer)} - {None}
        return numbers == {_value(question.answers[0])}
    if question.match == "includes":
        required = map(fold_text, question.answers)
        return all(text and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", folded) for text in required)
    return folded in {fold_text(text) for text in question.answers}


def says_impossible(answer: str) -> bool:
    """Whether an answer says that the task cannot be done.

    >>> says_impossible("n/a"), says_impossible("The N/A key")
    (True, False)
    """
    return fold_text(answer).strip(" .") in map(fold_text, _IMPOSSIBLE)


def _value(text: str) -> Decimal | None:
    plain = re.sub(r"[ ']", "", text)
    if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    try:
        return Decimal(plain.replace(",", ".")).normalize()
    except InvalidOperation:
        return None
