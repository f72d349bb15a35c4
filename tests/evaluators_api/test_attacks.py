"""No hostile function escapes, hangs the caller, exhausts the host, or is believed."""

import os
import resource
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic_monty import MontyError

from taskloom.evaluators_api.checks.declaration import Scene
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.interpreter.recorder import CallRecorder
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
from taskloom.evaluators_api.interpreter.static_analysis import Analysis, analyse
from taskloom.taskgraph.records.evidence import Evidence, FileState
from tests.evaluators_api.attacks import ATTACKS
from tests.limits import LONGEST_SECONDS

EVIDENCE = Evidence(step=0, files=(FileState(path="b.csv", size=1, sha256="0" * 64, text="x"),))
PARAMETERS = {"csv_path": "a.csv"}
CASES = [
    pytest.param(family, name, id=f"{family}: {name}") for family, cases in ATTACKS.items() for name in cases
]
SECRET = "the-secret-in-the-environment"


class Trap:
    """A file that must stay, a secret that must not be told, and a port that nobody may reach."""

    def __init__(self, folder: Path) -> None:
        self.canary = folder / "canary.txt"
        self.canary.write_text("alive")
        self.server = socket.create_server(("127.0.0.1", 0))
        self.visitors: list[object] = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                self.visitors.append(self.server.accept())
            except OSError:
                return

    def arm(self, source: str) -> str:
        return source.replace("@CANARY@", str(self.canary)).replace(
            "@PORT@", str(self.server.getsockname()[1])
        )

    def is_untouched(self) -> bool:
        return self.canary.read_text() == "alive" and not self.visitors


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trap]:
    os.environ["TASKLOOM_TEST_SECRET"] = SECRET
    armed = Trap(tmp_path_factory.mktemp("trap"))
    yield armed
    armed.server.close()
    del os.environ["TASKLOOM_TEST_SECRET"]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox(SandboxSettings(workers=1, seconds=0.2, grace_seconds=0.3)) as running:
        yield running


def test_there_are_enough_attacks() -> None:
    assert sum(len(cases) for cases in ATTACKS.values()) >= 60
    assert len(ATTACKS) >= 12


@pytest.mark.parametrize(("family", "name"), CASES)
def test_attack_is_contained(sandbox: EvaluationSandbox, trap: Trap, family: str, name: str) -> None:
    started = time.monotonic()
    evaluation = sandbox.evaluate(trap.arm(ATTACKS[family][name]), PARAMETERS, EVIDENCE)
    assert time.monotonic() - started < LONGEST_SECONDS
    assert trap.is_untouched()
    assert SECRET not in evaluation.model_dump_json()
    assert "alive" not in evaluation.model_dump_json()
    if family == "loops" and name == "sleep":
        assert evaluation.passed, "sleeping takes no time and is no crime"
    elif family in (
        "attribute walk",
        "process",
        "file",
        "network",
        "code from text",
        "loops",
        "memory",
        "recursion",
    ):
        assert not evaluation.passed
    if evaluation.outcome != "result":
        assert evaluation.message, "a refusal says why"


@pytest.mark.parametrize(("family", "name"), CASES)
def test_the_interpreter_contains_it_without_static_analysis(
    sandbox: EvaluationSandbox, trap: Trap, family: str, name: str
) -> None:
    source = trap.arm(ATTACKS[family][name])
    named_result = (
        "from collections import namedtuple\nEvalResult = namedtuple('EvalResult', 'success message"
        " progress')\n"
    )
    recorder = CallRecorder(Scene(view(EVIDENCE), sandbox._reader))
    started = time.monotonic()
    returned: object = None
    try:
        returned = sandbox._run(
            Analysis(prepared=named_result + source[:32_768], parameters=("csv_path",)), PARAMETERS, recorder
        )
    except (MontyError, UnicodeEncodeError) as error:
        returned = str(error)
    assert time.monotonic() - started < LONGEST_SECONDS
    assert trap.is_untouched()
    assert SECRET not in str(returned)[:100_000] and "alive" not in str(returned)[:100_000]


def test_the_battery_leaves_the_host_as_it_was(sandbox: EvaluationSandbox) -> None:
    threads_before = threading.active_count()
    peak_megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert peak_megabytes < 1500
    good = "def evaluate_agent_task_completion(csv_path):\n    return check_file_exists('b.csv')\n"
    assert sandbox.evaluate(good, PARAMETERS, EVIDENCE).passed
    assert threading.active_count() <= threads_before + 1


@pytest.mark.parametrize(
    "family", ["check shadowing", "result types", "host calls", "state between calls", "output", "source"]
)
def test_nothing_of_the_family_is_believed(sandbox: EvaluationSandbox, trap: Trap, family: str) -> None:
    believed = [
        name
        for name, source in ATTACKS[family].items()
        if sandbox.evaluate(trap.arm(source), PARAMETERS, EVIDENCE).passed
    ]
    assert believed == []


def test_static_analysis_alone_refuses_every_cheat_on_the_checks() -> None:
    admitted = [
        name
        for name, source in ATTACKS["check shadowing"].items()
        if not analyse(source, ("csv_path",)).problems
    ]
    assert admitted == ["check in dead code", "result redefined"]
