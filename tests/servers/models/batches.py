"""The batch interfaces of the local server: OpenAI's files and batches, Anthropic's message batches."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from taskloom.model_clients.wire.sdk_calls import list_at, text_at, value_at
from tests.servers.models.http_server import HttpRequest, HttpResponse

AnswerBatched = Callable[[str, dict[str, JsonValue]], tuple[int, dict[str, JsonValue]] | None]
"""Status and body for a path and a request; None leaves it unanswered."""

_FILE_PART = re.compile(rb'name="file".*?\r\n\r\n(.*?)\r\n--', re.DOTALL)


@dataclass(slots=True)
class _Batch:
    id: str
    endpoint: str
    requests: list[tuple[str, dict[str, JsonValue]]]
    looks: int = 0
    answers: dict[str, tuple[int, dict[str, JsonValue]] | None] = field(default_factory=dict)


class ServerBatches:
    """Takes batches in, and ends each at its n-th look."""

    def __init__(self, answer: AnswerBatched) -> None:
        """Answer single requests by `answer`."""
        self.looks_until_ended = 2
        self.submitted: list[str] = []
        self._answer = answer
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, _Batch] = {}

    def route(self, request: HttpRequest) -> HttpResponse | None:
        """The response to a request of the batch interfaces; None for any other request."""
        parts = [part for part in request.path.split("/") if part and part != "v1"]
        match (request.method, *parts):
            case ("POST", "files"):
                return self._upload(request)
            case ("GET", "files", name, "content"):
                return HttpResponse(self._files[name], headers={"content-type": "application/jsonl"})
            case ("POST", "batches"):
                return self._submit_openai(json.loads(request.body))
            case ("GET", "batches", name):
                return _json(self._openai_state(self._look(name)))
            case ("POST", "messages", "batches"):
                return self._submit_anthropic(json.loads(request.body))
            case ("GET", "messages", "batches", name):
                return _json(self._anthropic_state(self._look(name)))
            case ("GET", "messages", "batches", name, "results"):
                return HttpResponse(
                    self._anthropic_results(name), headers={"content-type": "application/x-jsonl"}
                )
            case _:
                return None

    def _upload(self, request: HttpRequest) -> HttpResponse:
        match = _FILE_PART.search(request.body)
        name = f"file-{len(self._files)}"
        self._files[name] = match.group(1) if match else b""
        size = len(self._files[name])
        return _json(
            {
                "id": name,
                "object": "file",
                "bytes": size,
                "created_at": 0,
                "filename": name,
                "purpose": "batch",
                "status": "processed",
            }
        )

    def _submit_openai(self, body: JsonValue) -> HttpResponse:
        lines = [
            json.loads(line) for line in self._files[text_at(body, "input_file_id")].splitlines() if line
        ]
        requests = [(line["custom_id"], line["body"]) for line in lines]
        return _json(self._openai_state(self._add(text_at(body, "endpoint"), requests)))

    def _submit_anthropic(self, body: JsonValue) -> HttpResponse:
        requests = []
        for entry in list_at(body, "requests"):
            parameters = value_at(entry, "params")
            requests.append((text_at(entry, "custom_id"), parameters if isinstance(parameters, dict) else {}))
        return _json(self._anthropic_state(self._add("/v1/messages", requests)))

    def _add(self, endpoint: str, requests: list[tuple[str, dict[str, JsonValue]]]) -> _Batch:
        batch = _Batch(f"batch_{len(self._batches)}", endpoint, requests)
        self._batches[batch.id] = batch
        self.submitted.append(batch.id)
        return batch

    def _look(self, name: str) -> _Batch:
        batch = self._batches[name]
        batch.looks += 1
        if batch.looks >= self.looks_until_ended and not batch.answers:
            batch.answers = {key: self._answer(batch.endpoint, body) for key, body in batch.requests}
        return batch

    def _openai_state(self, batch: _Batch) -> dict[str, JsonValue]:
        expired = any(answer is None for answer in batch.answers.values())
        done = sum(answer is not None and answer[0] == 200 for answer in batch.answers.values())
        state: dict[str, JsonValue] = {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": "file-0",
            "status": "in_progress",
            "request_counts": {
                "total": len(batch.requests),
                "completed": done,
                "failed": len(batch.answers) - done,
            },
        }
        if batch.answers:
            good, bad = self._openai_lines(batch)
            self._files[f"{batch.id}-output"], self._files[f"{batch.id}-errors"] = good, bad
            state["status"] = "expired" if expired else "completed"
            state["output_file_id"] = f"{batch.id}-output" if good else None
            state["error_file_id"] = f"{batch.id}-errors" if bad else None
        return state

    @staticmethod
    def _openai_lines(batch: _Batch) -> tuple[bytes, bytes]:
        good: list[str] = []
        bad: list[str] = []
        # Replies come back in another order than the requests went out.
        for key, answer in reversed(batch.answers.items()):
            line: dict[str, JsonValue] = {
                "id": f"batch_req_{key[:8]}",
                "custom_id": key,
                "response": None,
                "error": None,
            }
            if answer is None:
                line["error"] = {
                    "code": "batch_expired",
                    "message": "This request could not be executed in time.",
                }
            else:
                line["response"] = {
                    "status_code": answer[0],
                    "request_id": f"req-{key[:8]}",
                    "body": answer[1],
                }
            (good if answer is not None and answer[0] == 200 else bad).append(json.dumps(line))
        return "\n".join(good).encode(), "\n".join(bad).encode()

    def _anthropic_state(self, batch: _Batch) -> dict[str, JsonValue]:
        kinds = [self._kind(answer) for answer in batch.answers.values()]
        now = datetime.now(UTC)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.answers else "in_progress",
            "request_counts": {
                "processing": 0 if batch.answers else len(batch.requests),
                "succeeded": kinds.count("succeeded"),
                "errored": kinds.count("errored"),
                "canceled": 0,
                "expired": kinds.count("expired"),
            },
            "created_at": now.isoformat(),
            "expires_at": (now + timedelta(hours=24)).isoformat(),
            "ended_at": now.isoformat() if batch.answers else None,
            "results_url": f"/v1/messages/batches/{batch.id}/results" if batch.answers else None,
        }

    def _anthropic_results(self, name: str) -> bytes:
        lines = []
        for key, answer in reversed(self._batches[name].answers.items()):
            kind = self._kind(answer)
            result: dict[str, JsonValue] = {"type": kind}
            if answer is not None:
                result["message" if kind == "succeeded" else "error"] = answer[1]
            lines.append(json.dumps({"custom_id": key, "result": result}))
        return "\n".join(lines).encode()

    @staticmethod
    def _kind(answer: tuple[int, dict[str, JsonValue]] | None) -> str:
        return "expired" if answer is None else "succeeded" if answer[0] == 200 else "errored"


def _json(body: dict[str, JsonValue]) -> HttpResponse:
    return HttpResponse(json.dumps(body).encode())
