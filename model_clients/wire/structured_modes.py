"""Finds out once how a server can be asked for a typed reply."""

from __future__ import annotations

from typing import Literal

Mode = Literal["schema", "tool", "json"]
"""By JSON schema, as a tool call, or in plain words."""

_NEXT: dict[Mode, Mode] = {"schema": "tool", "tool": "json"}


class StructuredMode:
    """Starts with the configured mode and steps down permanently if a server does not support it."""

    def __init__(self, first: Mode) -> None:
        """Start with `first`."""
        self.current: Mode = first

    def step_down(self, refused: Mode) -> bool:
        """Give up the mode `refused`; returns whether there is another one to try."""
        if refused not in _NEXT:
            return False
        if self.current == refused:
            self.current = _NEXT[refused]
        return True
