"""Which way of asking for a typed reply a server takes, found out once."""

from __future__ import annotations

from typing import Literal

Mode = Literal["schema", "tool", "json"]
"""By JSON schema, as a tool call, or in plain words."""

_NEXT: dict[Mode, Mode] = {"schema": "tool", "tool": "json"}


class StructuredMode:
    """Starts with the way that is set, and steps down for good when a server does not take it."""

    def __init__(self, first: Mode) -> None:
        """Start with `first`."""
        self.current: Mode = first

    def step_down(self, refused: Mode) -> bool:
        """The server does not take `refused`; whether there is another way to try."""
        if refused not in _NEXT:
            return False
        if self.current == refused:
            self.current = _NEXT[refused]
        return True
