"""Which way of asking for a typed reply a server takes, found out once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from model_clients.errors import FormatUnsupportedError
from model_clients.messages import ModelReply

Mode = Literal["schema", "tool", "json"]
"""By JSON schema, as a tool call, or in plain words."""

_NEXT: dict[Mode, Mode] = {"schema": "tool", "tool": "json"}


class StructuredMode:
    """Starts with the way that is set, and steps down for good when a server does not take it."""

    def __init__(self, first: Mode) -> None:
        """Start with `first`."""
        self.current: Mode = first

    async def ask(self, send: Callable[[Mode], Awaitable[ModelReply]]) -> ModelReply:
        """Send in the current way, or in the first further one that the server takes.

        Raises:
            FormatUnsupportedError: not even plain words were taken.
        """
        while True:
            mode = self.current
            try:
                return await send(mode)
            except FormatUnsupportedError:
                if mode not in _NEXT:
                    raise
                if self.current == mode:
                    self.current = _NEXT[mode]
