"""Errors of scoring.

OmniEvalError
├── UnknownAgentError        an agent that nothing brings (names the known ones)
├── UnknownMetricError       the same of a metric
├── UnknownProtocolError     the same of a protocol
├── SequenceImpossibleError  subtasks that cannot have been completed in the order given; the first violation
is named
├── EvaluationEndedError     an action was reported to an evaluator whose task has ended
└── CallUnusableError        what a model said means no action
"""

from taskloom.resources.errors import TaskloomError


class OmniEvalError(TaskloomError):
    """Anything wrong with what is to be scored; never transient."""


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
    """What a model said means no action; the message is for the model to read."""
