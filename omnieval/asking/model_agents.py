"""Agents that ask a model, read from `model_agents.yaml` by the name that `--agent` and an experiment call
them."""

from collections.abc import Mapping
from importlib.resources import files
from typing import ClassVar

from pydantic import JsonValue, TypeAdapter
from ruamel.yaml import YAML

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.provider_tool import check_tool_settings, tool_agent
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
    tool: bool = False
    """Whether it operates the screen through its provider's computer tool."""
    MODEL: ClassVar[bool] = True

    def create(self, brief: AgentBrief) -> Agent:
        """A new agent for one attempt."""
        if self.form is not None:
            return SpokenAgent(brief, self.form)
        return tool_agent(brief) if self.shows is None else TypedAgent(brief, self.shows)

    def check(self, settings: Mapping[str, JsonValue]) -> None:
        """Raise an `AgentError` if a setting of a tool's agent is wrong; those of the others cannot be."""
        if self.tool:
            check_tool_settings(settings)


_TEXT = (files("taskloom.omnieval.asking") / "model_agents.yaml").read_text(encoding="utf-8")
ROWS: dict[str, ModelAgent] = TypeAdapter(dict[str, ModelAgent]).validate_python(YAML(typ="safe").load(_TEXT))
"""All of them."""
