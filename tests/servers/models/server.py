"""The local model server: three protocols, two batch interfaces, limits, and scripted trouble."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from types import TracebackType

from pydantic import JsonValue

from taskloom.model_clients.limiter import RateBucket
from tests.servers.models.batches import ServerBatches
from tests.servers.models.behaviour import Answerer, Behaviour, Script, WireCall, always
from tests.servers.models.call_statistics import ServerStatistics
from tests.servers.models.computer_use import asks_for_computer, refusal_of
from tests.servers.models.examples import example_of
from tests.servers.models.http_server import HttpRequest, HttpResponse, HttpServer
from tests.servers.models.protocols import Answer, Finish, read_call, write_answer, write_error

_HANG_SECONDS = 3600.0
_FINISHES: dict[str, Finish] = {"refuse": "refusal", "filter": "content_filter", "truncate": "length"}


def echo(call: WireCall) -> str:
    """The usual answer: the last message of the user, as `{"answer": …}`."""
    return json.dumps({"answer": call.turns[-1] if call.turns else ""})


def example_answer(call: WireCall) -> str:
    """The smallest answer that follows the schema of the call; `{"answer": …}` for a call without one."""
    return echo(call) if call.schema is None else json.dumps(example_of(call.schema))


class LocalModelServer:
    """An asynchronous context manager that serves on a loopback port while it is open.

    Speaks OpenAI's Responses, Chat Completions, files and batches under `/v1`, and Anthropic's Messages and
    message batches. Every call is written down, so that tests can say what was sent and how often.
    """

    def __init__(
        self,
        script: Script | None = None,
        answerer: Answerer = echo,
        *,
        requests_per_minute: float | None = None,
        key: str = "",
    ) -> None:
        """Behave by `script`, answer by `answerer`.

        Args:
            script: what to do with each call; plain answers when left out.
            answerer: what to answer.
            requests_per_minute: faster callers get 429 with `Retry-After`; the limit stands in the headers.
            key: the only key accepted; any when empty.
        """
        self.calls: list[WireCall] = []
        self.answered = 0
        self.statistics = ServerStatistics()
        self._script = script or always(Behaviour())
        self._answerer = answerer
        self._key = key
        self._rate = RateBucket(requests_per_minute, configured=True, burst_seconds=1.0)
        self._http = HttpServer(self._handle)
        self.batches = ServerBatches(self._answer_batched)

    async def __aenter__(self) -> LocalModelServer:
        """Begin to serve."""
        await self._http.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        await self._http.stop()

    async def start(self, port: int = 0) -> None:
        """Begin to serve on that port, or on any free one."""
        await self._http.start(port)

    async def stop(self) -> None:
        """Stop serving."""
        await self._http.stop()

    @property
    def url(self) -> str:
        """Base URL for every provider's client."""
        return f"http://127.0.0.1:{self._http.port}/v1"

    async def _handle(self, request: HttpRequest) -> HttpResponse:
        anthropic = "/messages" in request.path
        protocol = "messages" if anthropic else "responses"
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix(
            "Bearer "
        )
        if self._key and given != self._key:
            message = f"Incorrect API key provided: {given}"
            return _json(write_error(protocol, 401, "invalid_api_key", message), 401)
        if request.path == "/v1/statistics":
            return _json(self.statistics.as_json())
        routed = self.batches.route(request)
        if routed is not None:
            return routed
        body = json.loads(request.body) if request.body else {}
        call = read_call(request.path, body)
        if call is None:
            return _json(write_error(protocol, 404, "not_found", f"no such path {request.path}"), 404)
        number = len(self.calls)
        self.calls.append(call)
        started = time.monotonic()
        response = await self._serve(number, call)
        self.statistics.add(response.status, started, time.monotonic())
        return response

    async def _serve(self, number: int, call: WireCall) -> HttpResponse:
        headers = {"x-request-id": f"req-{number}", "request-id": f"req-{number}"}
        now = time.monotonic()
        wait = self._rate.wait_seconds(1, now)
        if self._rate.per_minute is not None:
            headers["x-ratelimit-limit-requests"] = f"{self._rate.per_minute:.0f}"
        if wait > 0:
            headers["retry-after"] = f"{wait:.3f}"
            return _json(
                write_error(call.protocol, 429, "rate_limit_exceeded", "Rate limit reached"), 429, headers
            )
        self._rate.take(1, now)
        behaviour = self._script(number, call)
        headers |= behaviour.headers
        if behaviour.seconds:
            await asyncio.sleep(behaviour.seconds)
        return await self._behave(call, behaviour, headers)

    async def _behave(self, call: WireCall, behaviour: Behaviour, headers: dict[str, str]) -> HttpResponse:
        match behaviour.kind:
            case "status":
                error = write_error(call.protocol, behaviour.status, behaviour.code, behaviour.message)
                return _json(error, behaviour.status, headers)
            case "no_schema" if call.typed_by == "schema":
                message = "response_format json_schema / output_config.format is not supported"
                return _json(write_error(call.protocol, 400, "", message), 400, headers)
            case "reset":
                return HttpResponse(b"", ending="reset")
            case "hang":
                await asyncio.sleep(_HANG_SECONDS)
            case "garbage":
                return HttpResponse(b"<html>502 Bad Gateway</html>", 200, headers)
            case _:
                pass
        refused = refusal_of(call) if asks_for_computer(call) else ""
        if refused:
            return _json(write_error(call.protocol, 400, "", refused), 400, headers)
        self.answered += 1
        response = _json(self._answer(call, behaviour), 200, headers)
        if behaviour.kind == "cut_off":
            return HttpResponse(response.body, 200, headers, ending="cut_off")
        return response

    def _answer(self, call: WireCall, behaviour: Behaviour) -> dict[str, JsonValue]:
        if behaviour.kind in ("refuse", "filter"):
            return write_answer(call, Answer("I can't help with that.", _FINISHES[behaviour.kind]))
        text = self._answerer(call)
        if behaviour.kind == "malformed":
            text = f"Sure! Here you are: {text[: len(text) // 2]}"
        if behaviour.kind == "truncate":
            return write_answer(call, Answer(text[: len(text) // 2], "length"))
        return write_answer(call, Answer(text))

    def _answer_batched(
        self, path: str, body: dict[str, JsonValue]
    ) -> tuple[int, dict[str, JsonValue]] | None:
        """Status and body for a request of a batch; None leaves it unanswered, as when time runs out."""
        call = read_call(path, body)
        if call is None:
            return 404, write_error("responses", 404, "not_found", f"no such path {path}")
        behaviour = self._script(len(self.calls), call)
        self.calls.append(call)
        if behaviour.kind == "hang":
            return None
        if behaviour.kind == "status":
            return behaviour.status, write_error(
                call.protocol, behaviour.status, behaviour.code, behaviour.message
            )
        self.answered += 1
        return 200, self._answer(call, behaviour)


def _json(
    body: dict[str, JsonValue], status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    return HttpResponse(
        json.dumps(body).encode(), status, {"x-request-id": uuid.uuid4().hex, **(headers or {})}
    )
