"""A chat model by the picture alone, pointing in thousandths of the screen.

Its settings: `coordinates` is `thousandths`, `pixels` or `fractions`; `pictures` shows earlier screens.
"""

from __future__ import annotations

from typing import cast

from taskloom.environments.agent import Agent
from taskloom.environments.errors import AgentError
from taskloom.omnieval.asking.typed import TypedAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.taskgraph.records.gestures import Coordinates

MODEL = True
"""It asks a model."""


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    return TypedAgent(brief, "picture", _coordinates(brief))


def _coordinates(brief: AgentBrief) -> Coordinates:
    said = brief.settings.get("coordinates", "thousandths")
    if said not in ("thousandths", "pixels", "fractions"):
        raise AgentError(f"coordinates is {said!r}; it is thousandths, pixels or fractions.")
    return cast(Coordinates, said)
