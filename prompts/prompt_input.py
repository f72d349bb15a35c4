"""The base of the typed inputs of prompts, and the protocol of what answers them."""

from typing import ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel, Field, JsonValue

from taskloom.prompts.rendering import render
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerTurn, Exchange
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.model_calls import ModelRole, RenderedPrompt

Reply = TypeVar("Reply", bound=BaseModel)


class PromptInput(Record, Generic[Reply]):
    """Everything that one role is shown in one call; its fields are the variables of the role's template.

    A subclass sets its role, whose name is also that of the template.
    """

    own_prompt: str = Field(default="", exclude=True)
    """Template that replaces the system part; empty for the role's own."""
    computer: tuple[ComputerTurn, ...] | None = Field(default=None, exclude=True)
    """Turns so far with the provider's computer tool; None for a question without the tool."""
    past: tuple[Exchange, ...] = Field(default=(), exclude=True)
    """Earlier turns of the conversation."""
    functions: tuple[dict[str, JsonValue], ...] = Field(default=(), exclude=True)
    """Functions that a free-text reply may call, as declared to the server."""
    role: ClassVar[ModelRole]
    template: ClassVar[str] = ""
    """Name of the template, if it is not the role's."""

    @property
    def reply_type(self) -> type[Reply]:
        """The record that the reply must be: the type argument of this input."""
        generics = (kind.__dict__.get("__pydantic_generic_metadata__", {}) for kind in type(self).__mro__)
        reply_type: type[Reply] = next(item["args"][0] for item in generics if item.get("args"))
        return reply_type

    @property
    def images(self) -> tuple[Screenshot, ...]:
        """Pictures sent with the text, in order: the screen, if there is one."""
        screenshot = getattr(self, "screenshot", None)
        return (screenshot,) if screenshot else ()

    def rendered(self) -> RenderedPrompt:
        """The prompt for these values; a `TemplateBrokenError` if the template uses unknown fields."""
        return render(self.template or self.role, self.model_dump(mode="json"), self.images, self.own_prompt)


class Models(Protocol):
    """What plays the roles: models, or rules."""

    async def ask(self, question: PromptInput[Reply], *, stage: str, item_id: str, attempt: int = 0) -> Reply:
        """The typed reply to a question; equal questions have equal replies, unless `attempt` differs.

        Raises:
            ModelClientError: no usable reply.
        """
        ...
