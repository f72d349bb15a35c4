"""Errors of the records and of graph mathematics.

TaskGraphError
├── GraphInvalid          cycle, self-loop, unknown node, duplicate id, two producers: the offending items are named
├── GraphTooLarge         more subtasks than exact mathematics handles
├── ParameterInvalid      a parameter set that does not fit its template
└── KeysInvalid           keys to press that break their syntax
"""

from __future__ import annotations


class TaskGraphError(Exception):
    """Anything wrong with a record or a graph; never transient."""

    transient = False


class GraphInvalid(TaskGraphError):
    """The graph breaks a rule; the message names the offending items."""


class GraphTooLarge(TaskGraphError):
    """The graph has more subtasks than the exact algorithms accept."""


class ParameterInvalid(TaskGraphError):
    """A parameter set does not fit the template it is meant for."""


class KeysInvalid(TaskGraphError):
    """Keys to press break their syntax; the message says where and how to write it."""
