"""The limits of the gates."""

from __future__ import annotations

from pydantic import Field

from taskloom.resources.record import Record


class GateSettings(Record):
    """What must hold of a version for it to be published; a share of 1 lets everything pass."""

    fewest_tasks: int = Field(default=0, ge=0)
    """Fewest validated tasks of a version."""
    tasks_lost: float = Field(default=0.1, ge=0, le=1)
    """By which share the validated tasks may have become fewer than in the version before."""
    subtasks_lost: float = Field(default=0.2, ge=0, le=1)
    """By which share the verified subtasks may have become fewer."""
    task_rejections: float = Field(default=0.3, ge=0, le=1)
    """How much larger the share of rejected tasks may be, among those made since the version before, than in
    that version."""
    subtask_rejections: float = Field(default=0.3, ge=0, le=1)
    """The same of proposed subtasks."""
    judge_misses: float = Field(default=0.2, ge=0, le=1)
    """The same of spoilt instructions that the judge did not notice. `validation.minimum_hits` is the limit
    without a comparison."""
    replay_failures: float = Field(default=0.3, ge=0, le=1)
    """The same of replays that failed."""
    variety_lost: float = Field(default=0.15, ge=0, le=1)
    """How much larger the self-BLEU-4 of the new instructions may be than that of as many of the version
    before."""
    fewest_compared: int = Field(default=20, ge=1)
    """Of how many items a share is compared at least, of the new ones and of the version before."""
