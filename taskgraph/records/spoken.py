"""Conversations with models that answer in their own words, in a format that they were trained for."""

from __future__ import annotations

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Screenshot


class Exchange(Record):
    """An earlier turn: what the model was told and shown, and what it said."""

    told: str = ""
    """What it was told."""
    pictures: tuple[Screenshot, ...] = ()
    """What it was shown."""
    said: str
    """What it said."""


class SpokenReply(Record):
    """A reply as it was said; calls of functions stand in it as `<tool_call>{"name": …}</tool_call>`."""

    text: str
    """The words."""
