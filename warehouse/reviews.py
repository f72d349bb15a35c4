"""Reviews of tasks by people, and the tasks that they accept.

Reviews are added to the present state, even those of a published version.
"""

import uuid
from datetime import UTC, datetime
from typing import Final, Literal, get_args

from pydantic import Field, ValidationError

from taskloom.resources.record import Record
from taskloom.taskgraph.records.criticism import Review
from taskloom.warehouse.errors import ReviewInvalidError, SelectionInvalidError
from taskloom.warehouse.store import Warehouse

Rule = Literal["any", "majority", "all"]
"""Who must accept a task: at least one person, more than half of those who reviewed it, or everyone who
did."""
_CONDITIONS: Final[dict[Rule, str]] = {
    "any": "count(*) FILTER (accepted) > 0",
    "majority": "2 * count(*) FILTER (accepted) > count(*)",
    "all": "count(*) FILTER (NOT accepted) = 0",
}


class AcceptanceRule(Record):
    """When a task counts as accepted."""

    rule: Rule
    """Who must accept it."""
    people: int = Field(default=1, ge=1)
    """How many people must have reviewed it."""


def parse_rule(text: str) -> AcceptanceRule:
    """The rule in `text`; `SelectionInvalidError` for an unknown rule or an invalid number of people.

    >>> parse_rule("majority:3")
    AcceptanceRule(rule='majority', people=3)
    """
    name, colon, people = text.strip().partition(":")
    rule = next((known for known in get_args(Rule) if known == name), None)
    if rule is None or (colon and (not people.isdecimal() or int(people) < 1)):
        raise SelectionInvalidError(
            f"{text!r} does not say when a task is accepted; allowed: {', '.join(get_args(Rule))}, each also"
            " with the number of people who must have reviewed it, such as majority:3."
        )
    return AcceptanceRule(rule=rule, people=int(people or 1))


def accepted_tasks(warehouse: Warehouse, rule: AcceptanceRule) -> list[tuple[str, str]]:
    """Ids of the tasks that people accept in the present state, with the instruction that they read."""
    sql = (
        "SELECT task_id, instruction FROM latest_reviews GROUP BY task_id, instruction"
        f" HAVING count(*) >= $people AND {_CONDITIONS[rule.rule]} ORDER BY task_id, instruction"
    )
    if warehouse.version is None:
        rows = warehouse.query(sql, {"people": rule.people}).rows()
        return [(str(task_id), str(instruction)) for task_id, instruction in rows]
    with warehouse.reopened() as present:
        return accepted_tasks(present, rule)


def new_review(
    task_id: str, instruction: str, reviewer: str, verdict: str, failed: tuple[str, ...] = (), note: str = ""
) -> Review:
    """A new review; `ReviewInvalidError` for a missing name or verdict, or reasons that do not fit."""
    try:
        return Review.model_validate(
            {
                "review_id": uuid.uuid4().hex,
                "task_id": task_id,
                "reviewer": " ".join(reviewer.split()),
                "verdict": verdict,
                "failed": failed,
                "note": note.strip(),
                "instruction": instruction,
                "reviewed_at": datetime.now(UTC).isoformat(timespec="microseconds"),
            }
        )
    except ValidationError as error:
        problems = "; ".join(
            (f"{'.'.join(str(part) for part in item['loc'])}: " if item["loc"] else "")
            + item["msg"].removeprefix("Value error, ")
            for item in error.errors()
        )
        raise ReviewInvalidError(f"This review was not stored: {problems}.") from None
