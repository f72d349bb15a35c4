"""Agents that ask a model, read from `model_agents.yaml` by the name that `--agent` and an experiment call
them."""

from collections.abc import Mapping
from importlib.resources import files
from typing import ClassVar

from pydantic import Field, JsonValue, TypeAdapter
from ruamel.yaml import YAML

from taskloom.environments.agent import Agent
from taskloom.environments.errors import AgentError
from taskloom.omnieval.asking.provider_tool import tool_agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.asking.typed import Shows, TypedAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.formats import ReplyFormat
from taskloom.resources.record import Record


class ModelAgent(Record):
    """What a module of an agent offers, as a row; without `form` and `shows` it uses a provider's tool."""

    description: str
    """What it is; after an empty line where its format comes from, and its settings."""
    form: ReplyFormat | None = None
    """The format that its model was trained for."""
    shows: Shows | None = None
    """What a chat model is shown of the screen."""
    choices: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Values that some of its settings can have, the usual one first."""
    MODEL: ClassVar[bool] = True

    def create(self, brief: AgentBrief) -> Agent:
        """A new agent for one attempt."""
        self.check(brief.settings)
        if self.form is not None:
            return SpokenAgent(brief, self.form)
        return tool_agent(brief) if self.shows is None else TypedAgent(brief, self.shows)

    def check(self, settings: Mapping[str, JsonValue]) -> None:
        """Raise an `AgentError` if a setting has none of its values."""
        for name, allowed in self.choices.items():
            said = settings.get(name, allowed[0])
            if said not in allowed:
                *others, last = allowed
                raise AgentError(f"{name} is {said!r}; it is {', '.join(others)} or {last}.")


_TEXT = (files("taskloom.omnieval.asking") / "model_agents.yaml").read_text(encoding="utf-8")
ROWS: dict[str, ModelAgent] = TypeAdapter(dict[str, ModelAgent]).validate_python(YAML(typ="safe").load(_TEXT))
"""All of them."""
