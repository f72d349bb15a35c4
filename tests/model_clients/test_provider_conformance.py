"""Every provider that speaks over the network does the same with the same answers; a new one is found by its
file."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from pydantic import ValidationError

from taskloom.model_clients.client import PROVIDERS, BatchClient, ModelClient, create_client
from taskloom.model_clients.conversation import parse_reply
from taskloom.model_clients.errors import (
    AddressUnknownError,
    ConnectionLostError,
    FormatUnsupportedError,
    KeyMissingError,
    KeyRejectedError,
    ModelClientError,
    ProviderOverloadedError,
    RateLimitedError,
    RequestRejectedError,
    UnknownProviderError,
)
from taskloom.model_clients.messages import ModelReply
from taskloom.model_clients.settings import ModelSettings
from taskloom.taskgraph.records.interaction import Screenshot
from tests.model_clients.requests import KEY, Verdict, model_at, request_for, verdict_about
from tests.servers.models.behaviour import Behaviour, Script, WireCall, always, in_turn
from tests.servers.models.server import LocalModelServer

VARIANTS = [
    (name, str(protocol))
    for name in PROVIDERS.built_in()
    for protocol in vars(PROVIDERS.load(name))["PROTOCOLS"]
]


@pytest.fixture(params=VARIANTS, ids="-".join)
def variant(request: pytest.FixtureRequest) -> tuple[str, str]:
    chosen: tuple[str, str] = request.param
    return chosen


@pytest.mark.parametrize("name", PROVIDERS.built_in())
async def test_every_provider_makes_a_client_of_the_model_it_is_asked_for(name: str) -> None:
    client = create_client(model_at("http://127.0.0.1:9/v1", name))
    assert (client.provider, client.model) == (name, "test-model")
    await client.close()
    await client.close()


@pytest.mark.parametrize("name", PROVIDERS.built_in())
async def test_every_provider_fails_with_our_errors_only(name: str) -> None:
    client = create_client(model_at("http://127.0.0.1:9/v1", name))
    with pytest.raises(ModelClientError):
        await client.complete(request_for("a question of no known kind"))
    await client.close()


def test_an_unknown_provider_names_the_known_ones() -> None:
    with pytest.raises(UnknownProviderError, match="anthropic, openai"):
        create_client(ModelSettings(provider="opnai", model="m"))


@pytest.mark.parametrize(
    "changes",
    [
        {"base_url": "https://user:secret@host/v1"},
        {"base_url": "host/v1"},
        {"api_key_variable": "sk-proj-not-a-variable"},
    ],
)
def test_settings_take_no_secrets(changes: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        ModelSettings.model_validate(changes)


class Bench:
    """A server with a script, and a client of one provider on it."""

    def __init__(self, variant: tuple[str, str]) -> None:
        self.variant = variant
        self.server = LocalModelServer(answerer=verdict_about)
        self.clients: list[ModelClient] = []

    async def client(self, script: Script | None = None, **changes: object) -> ModelClient:
        self.server = LocalModelServer(script, verdict_about)
        await self.server.start()
        provider, protocol = self.variant
        client = create_client(model_at(self.server.url, provider, protocol, **changes))
        self.clients.append(client)
        return client

    async def fails(self, behaviour: Behaviour, **changes: object) -> ModelClientError:
        client = await self.client(always(behaviour), **changes)
        with pytest.raises(ModelClientError) as caught:
            await client.complete(request_for("one"))
        return caught.value


@pytest.fixture
async def bench(variant: tuple[str, str]) -> AsyncIterator[Bench]:
    made = Bench(variant)
    yield made
    for client in made.clients:
        await client.close()
        await client.close()
    await made.server.stop()


async def test_answers_with_a_typed_reply_its_tokens_and_the_request_id(bench: Bench) -> None:
    client = await bench.client()
    reply = await client.complete(request_for("one"))
    assert parse_reply(reply.text, Verdict).answer == "about one"
    assert reply.finish_reason == "stop"
    assert reply.input_tokens > 0 < reply.output_tokens
    assert reply.answering_model == "test-model"
    assert reply.provider_request_id == "req-0"
    assert reply.latency_seconds > 0
    assert bench.server.calls[0].typed_by == "schema"
    assert "You answer in JSON." in bench.server.calls[0].system


async def test_sends_pictures_before_the_text_that_speaks_of_them(bench: Bench) -> None:
    client = await bench.client()
    await client.complete(
        request_for("two", images=(Screenshot.of(b"\x89PNG one"), Screenshot.of(b"\x89PNG two")))
    )
    assert bench.server.calls[0].images == 2
    assert bench.server.calls[0].turns == ("two",)


async def test_sends_the_parameters(bench: Bench) -> None:
    client = await bench.client(
        parameters={"temperature": 0.3, "max_output_tokens": 77, "extra": {"user": "u-1"}}
    )
    await client.complete(request_for("one"))
    call = bench.server.calls[0]
    assert (call.body["temperature"], call.max_tokens, call.body["user"]) == (0.3, 77, "u-1")


async def test_asks_by_tool_from_then_on_when_the_server_takes_no_schema(bench: Bench) -> None:
    client = await bench.client(always(Behaviour("no_schema")))
    for _ in range(2):
        reply = await client.complete(request_for("one"))
        assert parse_reply(reply.text, Verdict).answer == "about one"
    assert [call.typed_by for call in bench.server.calls] == ["schema", "tool", "tool"]


async def test_asks_in_plain_words_when_told_to(bench: Bench) -> None:
    client = await bench.client(structured_output="json")
    reply = await client.complete(request_for("one"))
    assert parse_reply(reply.text, Verdict).answer == "about one"
    assert bench.server.calls[0].typed_by == ""
    assert '"answer"' in bench.server.calls[0].system


async def test_gives_up_when_not_even_plain_words_are_taken(bench: Bench) -> None:
    error = await bench.fails(Behaviour("status", status=400, message="tools are not supported"))
    assert isinstance(error, FormatUnsupportedError)
    assert len(bench.server.calls) == 3


@pytest.mark.parametrize(("kind", "reasons"), [("refuse", {"refusal"}), ("truncate", {"length"})])
async def test_refusals_and_cut_replies_are_replies(bench: Bench, kind: str, reasons: set[str]) -> None:
    client = await bench.client(always(Behaviour(kind)))  # type: ignore[arg-type]
    reply = await client.complete(request_for("one"))
    assert reply.finish_reason in reasons
    assert reply.output_tokens > 0


async def test_a_content_filter_is_a_reply_too(bench: Bench) -> None:
    client = await bench.client(
        in_turn(
            Behaviour("filter"), Behaviour("status", status=400, code="content_filter", message="filtered")
        )
    )
    after_reading = await client.complete(request_for("one"))
    before_reading = await client.complete(request_for("two"))
    assert after_reading.finish_reason in ("content_filter", "refusal")
    assert before_reading.finish_reason == "content_filter"


@pytest.mark.parametrize(
    ("status", "expected", "transient", "too_busy"),
    [
        (400, RequestRejectedError, False, False),
        (401, KeyRejectedError, False, False),
        (402, KeyRejectedError, False, False),
        (403, KeyRejectedError, False, False),
        (404, AddressUnknownError, False, False),
        (413, RequestRejectedError, False, False),
        (422, RequestRejectedError, False, False),
        (408, ProviderOverloadedError, True, False),
        (409, ProviderOverloadedError, True, False),
        (429, RateLimitedError, True, True),
        (500, ProviderOverloadedError, True, False),
        (502, ProviderOverloadedError, True, False),
        (503, ProviderOverloadedError, True, True),
        (529, ProviderOverloadedError, True, True),
    ],
)
async def test_maps_every_status_once_and_sends_once(
    bench: Bench, status: int, expected: type[ModelClientError], transient: bool, too_busy: bool
) -> None:
    error = await bench.fails(Behaviour("status", status=status))
    assert type(error) is expected
    assert error.transient is transient
    assert getattr(error, "too_busy", False) is too_busy
    assert str(status) in str(error)
    assert error.request_id == "req-0"
    assert len(bench.server.calls) == 1


async def test_an_account_without_credit_is_not_tried_again(bench: Bench) -> None:
    error = await bench.fails(Behaviour("status", status=429, code="insufficient_quota"))
    assert isinstance(error, KeyRejectedError)


async def test_reads_how_long_to_wait(bench: Bench) -> None:
    error = await bench.fails(Behaviour("status", status=429, headers={"retry-after": "7"}))
    assert error.rate_report is not None
    assert error.rate_report.retry_after_seconds == 7


async def test_reads_limits_from_headers(bench: Bench) -> None:
    headers = {
        "x-ratelimit-limit-requests": "600",
        "x-ratelimit-remaining-requests": "599",
        "anthropic-ratelimit-requests-limit": "600",
        "anthropic-ratelimit-requests-remaining": "599",
    }
    client = await bench.client(always(Behaviour(headers=headers)))
    reply = await client.complete(request_for("one"))
    assert reply.rate_report is not None
    assert (reply.rate_report.requests.per_minute, reply.rate_report.requests.remaining) == (600, 599)


@pytest.mark.parametrize("kind", ["reset", "cut_off", "garbage"])
async def test_a_broken_connection_may_be_tried_again(bench: Bench, kind: str) -> None:
    error = await bench.fails(Behaviour(kind))  # type: ignore[arg-type]
    assert isinstance(error, ConnectionLostError)
    assert error.transient


async def test_a_silent_server_is_cut_off(bench: Bench) -> None:
    error = await bench.fails(Behaviour("hang"), first_byte_seconds=0.1)
    assert isinstance(error, ConnectionLostError)
    assert "0.1 s" in str(error)


async def test_no_server_at_all_may_be_tried_again(bench: Bench) -> None:
    client = await bench.client()
    await bench.server.stop()
    with pytest.raises(ConnectionLostError):
        await client.complete(request_for("one"))


async def test_a_key_that_the_server_repeats_is_blotted_out(bench: Bench) -> None:
    client = await bench.client(
        always(Behaviour("status", status=401, message=f"Incorrect API key provided: {KEY}"))
    )
    with pytest.raises(KeyRejectedError) as caught:
        await client.complete(request_for("one"))
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert KEY not in repr(client) + str(vars(client))


async def test_a_missing_key_names_its_variable(
    variant: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    provider, protocol = variant
    with pytest.raises(KeyMissingError, match="NO_SUCH_KEY"):
        create_client(model_at("", provider, protocol, api_key_variable="NO_SUCH_KEY"))


async def test_answers_a_batch_in_any_order_with_its_failures_apart(bench: Bench) -> None:
    client = await bench.client(in_turn(Behaviour(), Behaviour("status", status=500), Behaviour("hang")))
    assert isinstance(client, BatchClient)
    requests = [(f"key-{number}", request_for(f"item {number}")) for number in range(4)]
    batch = await client.submit_batch(requests)
    assert not (await client.batch_state(batch)).ended
    assert (await client.batch_state(batch)).ended
    answers = {key: answer async for key, answer in client.batch_answers(batch)}
    assert set(answers) == {"key-0", "key-1", "key-3"}
    failed, first = answers["key-1"], answers["key-0"]
    assert isinstance(failed, ProviderOverloadedError)
    assert isinstance(first, ModelReply)
    assert first.batched
    assert parse_reply(first.text, Verdict).answer == "about item 0"


async def test_a_server_without_the_responses_protocol_is_found_out_once() -> None:
    def chat_only(number: int, call: WireCall) -> Behaviour:
        return Behaviour("status", status=404) if call.protocol == "responses" else Behaviour()

    async with LocalModelServer(chat_only, verdict_about) as server:
        client = create_client(model_at(server.url))
        for text in ("one", "two", "three"):
            reply = await client.complete(request_for(text))
            assert parse_reply(reply.text, Verdict).answer == f"about {text}"
        await client.close()
    assert [call.protocol for call in server.calls] == ["responses", *["chat_completions"] * 3]


async def test_a_model_that_no_protocol_of_the_server_knows_is_said_to_be_unknown() -> None:
    async with LocalModelServer(always(Behaviour("status", status=404, message="no model"))) as server:
        client = create_client(model_at(server.url))
        for _ in range(2):
            with pytest.raises(RequestRejectedError, match="check the model's name and the base URL"):
                await client.complete(request_for("one"))
        await client.close()
    assert len(server.calls) == 4


async def test_a_protocol_that_is_set_is_the_only_one_tried() -> None:
    async with LocalModelServer(always(Behaviour("status", status=404))) as server:
        client = create_client(model_at(server.url, protocol="responses"))
        with pytest.raises(RequestRejectedError):
            await client.complete(request_for("one"))
        await client.close()
    assert [call.protocol for call in server.calls] == ["responses"]
