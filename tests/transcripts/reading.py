"""Answers a model server's calls from a transcript."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from taskloom.resources.record import Record
from tests.servers.models.behaviour import WireCall


class Part(Record):
    """Replies to the calls that one system prompt and one text in the user's part tell from all others."""

    system: str
    """How the system prompt begins."""
    about: str
    """What the user's part holds."""
    replies: list[str]
    """The replies, in turn."""


class Transcript:
    """One session; a call that it does not hold is an error that shows the call."""

    def __init__(self, name: str) -> None:
        """Read `<name>.yaml` beside this module."""
        content = YAML(typ="safe").load((Path(__file__).parent / f"{name}.yaml").read_text())
        self.parts = TypeAdapter(list[Part]).validate_python(content)
        self.used = [0] * len(self.parts)

    def __call__(self, call: WireCall) -> str:
        """The next reply to such a call."""
        shown = call.turns[0]
        for number, part in enumerate(self.parts):
            if call.system.startswith(part.system) and part.about in shown:
                if self.used[number] == len(part.replies):
                    raise AssertionError(
                        f"the transcript has no further reply about {part.about!r}: {call.turns[-1]}"
                    )
                self.used[number] += 1
                return part.replies[self.used[number] - 1]
        raise AssertionError(f"the transcript has no reply to: {call.system[:60]} … {shown[-2000:]}")

    @property
    def unused(self) -> list[str]:
        """What part of it was never asked for."""
        return [
            part.about for part, used in zip(self.parts, self.used, strict=True) if used < len(part.replies)
        ]
