"""Errors of scoring.

OmniEvalError
├── UnknownAgentError        an unknown agent; names the known ones
├── UnknownMetricError       an unknown metric; names the known ones
├── UnknownProtocolError     an unknown protocol; names the known ones
├── SequenceImpossibleError  subtasks cannot have been completed in this order; names the first violation
├── EvaluationEndedError     an action was reported to an evaluator whose task has ended
└── CallUnusableError        a model's reply contains no usable action
"""

from taskloom.resources.errors import TaskloomError


class OmniEvalError(TaskloomError):
    """The base of errors of scoring; never transient."""


class UnknownAgentError(OmniEvalError):
    """There is no agent of this name."""


class UnknownMetricError(OmniEvalError):
    """There is no metric of this name."""


class UnknownProtocolError(OmniEvalError):
    """There is no protocol of this name."""


class SequenceImpossibleError(OmniEvalError):
    """The execution sequence contradicts the task graph."""


class EvaluationEndedError(OmniEvalError):
    """The task's evaluation is over."""


class CallUnusableError(OmniEvalError):
    """A model's reply contains no usable action; the message is addressed to the model."""
