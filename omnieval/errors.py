"""Errors of scoring.

OmniEvalError
├── SequenceImpossible     subtasks that cannot have been completed in the order given; the first violation is named
└── EvaluationEnded        an action was reported to an evaluator whose task has ended
"""

from __future__ import annotations


class OmniEvalError(Exception):
    """Anything wrong with what is to be scored; never transient."""

    transient = False


class SequenceImpossible(OmniEvalError):
    """The execution sequence contradicts the task graph."""


class EvaluationEnded(OmniEvalError):
    """The task's evaluation is over."""
