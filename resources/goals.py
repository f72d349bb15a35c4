"""Wordings of goals: how a group of subtasks is summed up as one intent without a model."""

from __future__ import annotations

from resources.record import Record


class GoalWording(Record):
    """A goal that fits groups of subtasks whose applications and resources are of certain categories."""

    application_categories: tuple[str, ...] = ()
    """Application categories that the group must all have; empty fits any."""
    resource_categories: tuple[str, ...] = ()
    """Resource categories of which some link in the group must have one; empty fits any."""
    goal: str
    """The goal in words, `{value}` standing for the value of the linking resource."""
