"""What a failed call means for an agent."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from taskloom.environments.errors import AgentError, UnusableReplyError
from taskloom.model_clients.errors import CallFailedError, ReplyInvalidError
from taskloom.omnieval.brief import AgentBrief, AgentModels
from taskloom.prompts.errors import TemplateBrokenError

T = TypeVar("T")


def models_of(brief: AgentBrief) -> AgentModels:
    """The models that an agent may ask.

    Raises:
        AgentError: it was given none.
    """
    if brief.models is None:
        raise AgentError("The agent asks a model, and was given none.")
    return brief.models


async def answered(call: Awaitable[T]) -> T:
    """The reply of a call.

    Raises:
        UnusableReplyError: the reply is none of the kind that was asked for.
        AgentError: the model refused, or did not answer; or the agent's own prompt does not fit its question.
        ModelClientError: calls cannot go on at all.
    """
    try:
        return await call
    except ReplyInvalidError as error:
        raise UnusableReplyError(str(error)) from error
    except (CallFailedError, TemplateBrokenError) as error:
        raise AgentError(str(error)) from error
