"""What a failed call means for an agent."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from taskloom.environments.errors import AgentError, UnusableReplyError
from taskloom.model_clients.errors import CallFailedError, ReplyInvalidError
from taskloom.omnieval.brief import AgentBrief
from taskloom.prompts.errors import TemplateBrokenError
from taskloom.prompts.prompt_input import PromptInput

R = TypeVar("R", bound=BaseModel)


async def asked(brief: AgentBrief, question: PromptInput[R]) -> R:
    """The reply of the model that an agent may ask.

    Raises:
        UnusableReplyError: the reply is none of the kind that was asked for.
        AgentError: the model refused, or did not answer; or the agent's own prompt does not fit its question;
            or the agent was given no model.
        ModelClientError: calls cannot go on at all.
    """
    if brief.models is None:
        raise AgentError("The agent asks a model, and was given none.")
    try:
        return await brief.models.ask(
            question, stage=brief.stage, item_id=brief.attempt_id, attempt=brief.seed
        )
    except ReplyInvalidError as error:
        raise UnusableReplyError(str(error)) from error
    except (CallFailedError, TemplateBrokenError) as error:
        raise AgentError(str(error)) from error
