"""Writes requests to a file and reads replies back, in OpenAI's JSONL batch format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from taskloom.model_clients.errors import ModelClientError, RequestRejectedError
from taskloom.model_clients.messages import ModelReply, ModelRequest
from taskloom.model_clients.settings import ModelSettings
from taskloom.model_clients.wire.json_paths import text_at, value_at
from taskloom.model_clients.wire.openai_json import (
    CHAT_PATH,
    RESPONSES_PATH,
    batch_line,
    chat_body,
    either_reply,
    responses_body,
)


@dataclass(slots=True)
class RequestFile:
    """A file of requests, one per line, each added only once.

    Requests to OpenAI models use the configured protocol, all others Chat Completions. Pictures are embedded
    in the line, API keys are not. The `custom_id` of a line is the call's key.
    """

    path: Path
    """The file; existing lines are kept."""
    written: int = 0
    """Lines added."""
    _keys: set[str] | None = None

    def add(self, key: str, settings: ModelSettings, request: ModelRequest) -> None:
        """Add a request, unless the file already has it."""
        if self._keys is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            present = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
            self._keys = {text_at(json.loads(line), "custom_id") for line in present if line.strip()}
        if key in self._keys:
            return
        responses = settings.provider == "openai" and settings.protocol != "chat_completions"
        body = (responses_body if responses else chat_body)(settings, request, "schema")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(batch_line(key, RESPONSES_PATH if responses else CHAT_PATH, body) + "\n")
        self._keys.add(key)
        self.written += 1


@dataclass(slots=True)
class ReplyFile:
    """Replies to a file of requests, by key.

    A line is either `{"custom_id": …, "response": {"status_code": 200, "body": …}}` with a body in either
    OpenAI protocol, as in OpenAI's batches, or `{"custom_id": …, "reply": …}` with the typed reply itself or
    its text.
    """

    path: Path
    _lines: dict[str, JsonValue] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> ReplyFile:
        """Read all lines.

        Raises:
            RequestRejectedError: the file cannot be read, or a line is not JSON; the message names it.
        """
        file = cls(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RequestRejectedError(f"cannot read the replies in {path}: {error}") from error
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                try:
                    entry = json.loads(line)
                except ValueError as error:
                    raise RequestRejectedError(f"{path}, line {number}: not valid JSON: {error}") from error
                file._lines[text_at(entry, "custom_id")] = entry
        return file

    def __contains__(self, key: object) -> bool:
        """Whether the file has a line for the call `key`."""
        return key in self._lines

    def reply(self, key: str, settings: ModelSettings) -> ModelReply | None:
        """The reply to the call `key`; None if the file has none.

        Raises:
            RequestRejectedError: the line reports a failed call or contains no reply.
        """
        line = self._lines.get(key)
        if line is None:
            return None
        body = value_at(line, "response", "body")
        status = value_at(line, "response", "status_code")
        if isinstance(line, dict) and "reply" in line:
            said = line["reply"]
            return ModelReply(
                text=said if isinstance(said, str) else json.dumps(said),
                answering_model=settings.model,
            )
        if status not in (200, None) or not isinstance(body, dict):
            said = (
                text_at(body, "error", "message")
                or text_at(line, "error", "message")
                or "no reply in the line"
            )
            raise RequestRejectedError(f"{self.path} holds no reply to {key}: {said}")
        return self._from_body(body, settings)

    @staticmethod
    def _from_body(body: dict[str, JsonValue], settings: ModelSettings) -> ModelReply:
        try:
            reply = either_reply(settings, body)
        except ModelClientError as error:
            raise RequestRejectedError(str(error)) from error
        return reply.model_copy(update={"batched": True})
