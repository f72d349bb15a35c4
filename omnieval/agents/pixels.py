"""A chat model by the picture alone, pointing in thousandths of the screen.

Its settings: `coordinates` is `thousandths`, `pixels` or `fractions`; `pictures` shows earlier screens.
"""

from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from taskloom.environments.agent import Agent
from taskloom.environments.errors import AgentError
from taskloom.omnieval.asking.typed import TypedAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.taskgraph.records.gestures import Coordinates

MODEL = True
"""It asks a model."""


def check(settings: Mapping[str, JsonValue]) -> None:
    """Raise an `AgentError` if coordinates are of an unknown kind."""
    said = settings.get("coordinates", "thousandths")
    if said not in ("thousandths", "pixels", "fractions"):
        raise AgentError(f"coordinates is {said!r}; it is thousandths, pixels or fractions.")


def create(brief: AgentBrief) -> Agent:
    """The agent."""
    check(brief.settings)
    return TypedAgent(brief, "picture", cast(Coordinates, brief.settings.get("coordinates", "thousandths")))
