"""From a prompt to a request, and from a reply's text to the typed reply."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from taskloom.model_clients.client import Question
from taskloom.model_clients.errors import ReplyInvalidError
from taskloom.model_clients.messages import (
    Content,
    ImageContent,
    Message,
    ModelReply,
    ModelRequest,
    TextContent,
)
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.reply_schemas import wordless_schema
from taskloom.taskgraph.records.computer_use import SpokenReply
from taskloom.taskgraph.records.model_calls import CallPurpose

Reply = TypeVar("Reply", bound=BaseModel)

_DECODER = json.JSONDecoder()
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_MOST_OBJECTS = 50
_LENGTH_FACTOR = 2
_LONGEST_QUOTE = 300
_MOST_PROBLEMS = 12


def first_request(
    question: Question[BaseModel], *, stage: str, item_id: str, attempt: int = 0
) -> ModelRequest:
    """The request for `question`: the unchanging part first, so that providers can cache it, then the growing
    part, then what differs, with the pictures last."""
    prompt, computer = question.rendered(), question.computer
    is_free_text = computer is not None or question.reply_type is SpokenReply
    messages: list[Message] = []
    if prompt.system:
        messages.append(Message(role="system", content=(TextContent(text=prompt.system, cacheable=True),)))
    for turn in question.past:
        texts = [TextContent(text=turn.told)] if turn.told else []
        pictures = (ImageContent(image=image) for image in turn.pictures)
        messages.append(Message(role="user", content=(*texts, *pictures)))
        messages.append(Message(role="assistant", content=(TextContent(text=turn.said),)))
    user: list[Content] = []
    if prompt.stable:
        user.append(TextContent(text=prompt.user[: prompt.stable], cacheable=True))
    user.append(TextContent(text=prompt.user[prompt.stable :]))
    user += [ImageContent(image=image) for image in prompt.images]
    messages.append(Message(role="user", content=tuple(user)))
    return ModelRequest(
        role=question.role,
        messages=tuple(messages),
        reply_schema_name="" if is_free_text else question.reply_type.__name__,
        reply_schema=None if is_free_text else _schema(question.reply_type),
        computer=computer,
        functions=question.functions,
        attempt=attempt,
        template_hash=prompt.template_hash,
        stage=stage,
        item_id=item_id,
    )


def next_request(
    model: ModelSettings, request: ModelRequest, reply: ModelReply, problem: str
) -> tuple[ModelSettings, ModelRequest, CallPurpose]:
    """The next request after an unusable reply: with twice the output limit if the reply was truncated, else
    with the reply and the parser's `problem`."""
    limit = model.parameters.max_output_tokens
    if reply.finish_reason == "length" and limit is not None:
        parameters = model.parameters.model_copy(update={"max_output_tokens": limit * _LENGTH_FACTOR})
        return model.model_copy(update={"parameters": parameters}), request, "longer"
    if reply.finish_reason == "length":
        problem = f"it was cut off at the longest length allowed, so it must be shorter; {problem}"
    instruction = (
        f"Your reply could not be used: {problem}\n\n"
        "Send the whole reply again, corrected: one JSON value that follows the schema of"
        f" {request.reply_schema_name}, with nothing before or after it."
    )
    turn = (
        Message(role="assistant", content=(TextContent(text=reply.text or "(empty)"),)),
        Message(role="user", content=(TextContent(text=instruction),)),
    )
    return model, request.model_copy(update={"messages": request.messages + turn}), "repair"


def parse_reply(text: str, reply_type: type[Reply]) -> Reply:
    """The typed reply in `text`, which may surround it with prose or a code fence.

    Accepts JSON anywhere in the text, and trailing commas; reply types read near misses themselves. If
    several objects follow the schema, they must be equal.

    Raises:
        ReplyInvalidError: no JSON object follows the schema, or several different ones do; the message is
            written for the model.
    """
    if reply_type is SpokenReply:
        return reply_type.model_validate({"text": text})
    try:
        return reply_type.model_validate_json(text)
    except ValidationError as error:
        failure = error
    except (RecursionError, ValueError) as error:
        raise ReplyInvalidError(f"not readable as JSON: {error}") from None
    if failure.errors()[0]["type"] != "json_invalid":
        raise ReplyInvalidError(_describe_problems(failure, text)) from None
    replies: list[Reply] = []
    for candidate in (text, _TRAILING_COMMA.sub(r"\1", text)):
        for part in () if replies else _objects(candidate):
            try:
                reply = reply_type.model_validate_json(part)
            except ValidationError as error:
                failure = error
            else:
                replies += [reply] if reply not in replies else []
    if len(replies) > 1:
        raise ReplyInvalidError(f"it holds {len(replies)} different answers; send one JSON value")
    if not replies:
        raise ReplyInvalidError(_describe_problems(failure, text)) from None
    return replies[0]


def _objects(text: str) -> Iterator[str]:
    """The outermost JSON objects in a text, verbatim."""
    place = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if place < 0:
            return
        try:
            _, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield text[place:end]
        place = text.find("{", end)


def _describe_problems(error: ValidationError, text: str) -> str:
    problems = error.errors(include_url=False, include_context=False)
    lines = []
    for problem in problems[:_MOST_PROBLEMS]:
        place = ".".join(str(part) for part in problem["loc"]) or "the reply"
        if problem["type"] == "json_invalid":
            quote = text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"
            lines.append(f"not valid JSON ({problem['msg']}); it begins: {quote!r}")
        else:
            lines.append(f"{place}: {problem['msg']}; got {_shorten(problem['input'])}")
    if len(problems) > _MOST_PROBLEMS:
        lines.append(f"and {len(problems) - _MOST_PROBLEMS} more")
    return "; ".join(lines)


def _shorten(value: object) -> str:
    try:
        text = json.dumps(value, default=str)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"


@cache
def _schema(reply_type: type[BaseModel]) -> dict[str, JsonValue]:
    return wordless_schema(reply_type.model_json_schema())
