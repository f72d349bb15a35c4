"""The bound subtasks of a pool, numbered, with what composition needs to know of each."""

from __future__ import annotations

from dataclasses import dataclass

from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.subtask import BoundSubtask


@dataclass(frozen=True, slots=True)
class Need:
    """One input of an instance."""

    resource: Resource
    producers: int
    """Instances that write it."""
    fixture: bool
    """Whether it exists at reset anyway."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A bound subtask with every slot bound to one document, and what composition needs to know of it."""

    number: int
    """Its position in the pool."""
    node: BoundSubtask
    """The subtask; slots without a document carry that of their producer."""
    template: int
    """Number of its subtask template."""
    application_category: int
    needs: tuple[Need, ...]
    clashes: int
    """Instances that cannot be in one task with it."""
    sources: int
    required: tuple[int, ...]
    """Per input that is no fixture, the instances that write it."""
