"""Errors of the records and of graph mathematics.

TaskGraphError
├── GraphInvalidError      cycle, self-loop, unknown node, duplicate id, two producers
├── GraphTooLargeError
├── ParameterInvalidError
└── KeysInvalidError
"""

from taskloom.resources.errors import TaskloomError


class TaskGraphError(TaskloomError):
    """Anything wrong with a record or a graph; never transient."""


class GraphInvalidError(TaskGraphError):
    """The graph breaks a rule; the message names the offending items."""


class GraphTooLargeError(TaskGraphError):
    """The graph has more subtasks than the exact algorithms accept."""


class ParameterInvalidError(TaskGraphError):
    """A parameter set does not fit the template it is meant for."""


class KeysInvalidError(TaskGraphError):
    """Keys to press break their syntax; the message says where and how to write it."""
