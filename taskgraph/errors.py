"""Errors of the records and of graph mathematics.

TaskGraphError
├── GraphInvalidError      cycle, self-loop, unknown node, duplicate id, two producers
├── GraphTooLargeError
├── ParameterInvalidError
└── KeysInvalidError
"""

from taskloom.resources.errors import TaskloomError


class TaskGraphError(TaskloomError):
    """The base of errors in records and graphs; never transient."""


class GraphInvalidError(TaskGraphError):
    """The graph violates a rule; the message names the offending items."""


class GraphTooLargeError(TaskGraphError):
    """The graph has more subtasks than the exact algorithms accept."""


class ParameterInvalidError(TaskGraphError):
    """A parameter set does not fit its template."""


class KeysInvalidError(TaskGraphError):
    """Keys violate their syntax; the message says where, and what to write instead."""
