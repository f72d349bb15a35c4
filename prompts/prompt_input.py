"""The base of the typed inputs of prompts, and whoever answers them."""

from typing import ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel, Field, JsonValue

from taskloom.prompts.rendering import render
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerTurn, Exchange
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.model_calls import ModelRole, RenderedPrompt

Reply = TypeVar("Reply", bound=BaseModel)


class PromptInput(Record, Generic[Reply]):
    """All that one role is shown in one call; its fields are the variables of the role's template.

    A subclass says which role it is for, whose name is also the template's.
    """

    own_prompt: str = Field(default="", exclude=True)
    """Template that takes the place of the system part; empty for the role's."""
    computer: tuple[ComputerTurn, ...] | None = Field(default=None, exclude=True)
    """What the model did so far with its provider's computer tool; None for a question that needs no tool."""
    past: tuple[Exchange, ...] = Field(default=(), exclude=True)
    """Earlier turns of the conversation."""
    functions: tuple[dict[str, JsonValue], ...] = Field(default=(), exclude=True)
    """Functions that a spoken reply may call, which are declared to the server."""
    role: ClassVar[ModelRole]
    template: ClassVar[str] = ""
    """Name of the template, where it is not the role's."""

    @property
    def reply_type(self) -> type[Reply]:
        """The record that the answer must be: what the class is an input of."""
        given = (kind.__dict__.get("__pydantic_generic_metadata__", {}) for kind in type(self).__mro__)
        found: type[Reply] = next(item["args"][0] for item in given if item.get("args"))
        return found

    @property
    def images(self) -> tuple[Screenshot, ...]:
        """Pictures sent beside the text, in order: the screen, where there is one."""
        screenshot = getattr(self, "screenshot", None)
        return (screenshot,) if screenshot else ()

    def rendered(self) -> RenderedPrompt:
        """The prompt for these values; a `TemplateBrokenError` if the template uses what is no field here."""
        return render(self.template or self.role, self.model_dump(mode="json"), self.images, self.own_prompt)


class Models(Protocol):
    """Whoever plays the roles: models, or rules."""

    async def ask(self, question: PromptInput[Reply], *, stage: str, item_id: str, attempt: int = 0) -> Reply:
        """The typed reply to a question; equal questions have equal replies, a new `attempt` may have
        another.

        Raises:
            ModelClientError: no usable reply.
        """
        ...
