"""What workers ask of a run, and who may ask."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import pickle
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.fan_out import dask_workers
from taskloom.flows.fan_out.dask_workers import DaskWorkers, check_runner
from taskloom.flows.fan_out.run_server import RunAddress, RunServer, RunUnreachableError, picklable
from taskloom.flows.settings import FanOutSettings, load_settings
from taskloom.model_clients.errors import BudgetExhaustedError, ModelClientError
from taskloom.prompts.inputs import IntentExtractorInput
from taskloom.prompts.prompt_input import PromptInput
from taskloom.resources.errors import ExitCode, UnknownCatalogEntryError


class Answers:
    """Plays every role with one fixed outcome."""

    def __init__(self, outcome: object) -> None:
        self.outcome, self.asked = outcome, 0

    async def ask(self, question: PromptInput[Any], *, stage: str, item_id: str, attempt: int = 0) -> Any:
        self.asked += 1
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


async def no_subtasks(names: object) -> dict[str, Any]:
    raise CommandError(f"{names} is not verified")


def home(outcome: object = None) -> RunServer:
    models = Answers(outcome)
    run: Any = SimpleNamespace(
        run_id="r",
        models=models,
        player=lambda name: models,
        settings=load_settings(),
        applications={"a": object()},
    )
    return RunServer(run, no_subtasks)


async def test_errors_come_back_as_what_they_are(tmp_path: Path) -> None:
    answering = home(BudgetExhaustedError("the budget 1usd of the run is used up"))
    question = IntentExtractorInput(scenarios=(), subtasks=(), wanted=1)
    async with answering.serve("127.0.0.1") as address:
        with pytest.raises(BudgetExhaustedError, match="used up"):
            await address.ask(question, stage="intents", item_id="x")
        with pytest.raises(CommandError, match="is not verified"):
            await address.subtasks(["a.b"])
        assert (await address.settings())[0] == "r"


async def test_a_stranger_gets_no_answer_and_nothing_of_his_is_unpickled() -> None:
    answering = home("reply")

    class Trap:
        def __reduce__(self) -> Any:
            return exec, ("raise SystemExit('unpickled')",)

    async with answering.serve("127.0.0.1") as address:
        stranger = RunAddress(address.host, address.port, b"another secret")
        with pytest.raises(RunUnreachableError, match="does not answer"):
            await stranger.settings()
        reader, writer = await asyncio.open_connection(address.host, address.port)
        nonce = await reader.readexactly(32)
        content = pickle.dumps(Trap())
        key = hmac.new(b"wrong", nonce, hashlib.sha256).digest()
        signature = hmac.new(key, content, hashlib.sha256).digest()
        writer.write(len(content).to_bytes(8) + signature + content)
        assert await reader.read() == b""
        writer.close()
        assert (await address.settings())[0] == "r", "others are still answered"
    assert "another secret" not in repr(stranger) and str(address.secret) not in repr(address)


async def test_a_run_that_has_ended_is_said_to_be_unreachable() -> None:
    async with home().serve("127.0.0.1") as address:
        pass
    with pytest.raises(RunUnreachableError, match=r"fan_out\.host") as raised:
        await address.settings()
    assert raised.value.transient


async def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(RunUnreachableError, match="one of its own addresses"):
        async with home().serve("192.0.2.1"):
            raise AssertionError


def test_applications_that_change_have_a_new_edition() -> None:
    answering = home()
    first = answering.current_edition()
    assert answering.current_edition() == first
    answering.run.applications["a"] = object()  # type: ignore[index]
    assert answering.current_edition() == first + 1


@pytest.mark.parametrize("kind", ModelClientError.__subclasses__(), ids=lambda kind: kind.__name__)
def test_errors_of_model_calls_can_travel(kind: type[ModelClientError]) -> None:
    error = kind("what happened")
    carried = picklable(error)
    assert isinstance(carried, kind) and str(carried) == "what happened"


def test_an_error_that_cannot_be_rebuilt_keeps_its_message() -> None:
    error = UnknownCatalogEntryError("application", "drawoi", ["drawio"])
    error.lock = threading.Lock()  # type: ignore[attr-defined]  # what no library can pickle
    carried = picklable(error)
    assert type(carried) is CommandError and carried.exit_code is ExitCode.BAD_INPUT
    assert "There is no application named 'drawoi'" in str(carried)


def test_a_runner_that_is_not_installed_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dask_workers, "find_spec", lambda name: None)
    with pytest.raises(CommandError, match=r"pip install 'taskloom\[dask\]'") as raised:
        check_runner(FanOutSettings(runner="dask"))
    assert raised.value.exit_code is ExitCode.MISSING_REQUIREMENT
    check_runner(FanOutSettings())


async def test_a_run_without_any_worker_ends_instead_of_waiting_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers that do not start again leave an errand with nobody to do it."""
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(dask_workers, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(dask_workers, "_STARTING_SECONDS", 0.05)
    there: dict[str, object] = {"tcp://one": {}}
    errand: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    released: list[bool] = []

    class Submitted:
        def __await__(self) -> Any:
            return errand.__await__()

        def release(self) -> None:
            released.append(True)

    client: Any = SimpleNamespace(
        scheduler_info=lambda n_workers: {"workers": there}, submit=lambda *given, pure: Submitted()
    )
    workers = DaskWorkers(client, home(), RunAddress("127.0.0.1", 1, b"k"), losses=3)
    wanted: Any = SimpleNamespace(task=None)
    doing = asyncio.ensure_future(workers.run_job(wanted))
    await asyncio.sleep(0.2)
    assert not doing.done(), "a worker is there and takes its time"
    there.clear()
    with pytest.raises(CommandError, match="there has been no Dask worker") as raised:
        await doing
    assert raised.value.exit_code is ExitCode.NEGATIVE_ANSWER
    assert released == [True]
