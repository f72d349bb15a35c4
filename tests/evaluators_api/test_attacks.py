"""No hostile function escapes, hangs the caller, exhausts the host, or is believed."""

import os
import resource
import socket
import threading
import time
import tracemalloc
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
from tests.limits import LONGEST_SECONDS, work_within

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


COSTLY = {
    "one list in many": ("x = ['a']", "for _ in range(40):", "    x = [x, x]", "check_drawing(p, x, x)"),
    "a long list, again and again": (
        "x = ['a' * 9] * 1_000_000",
        "for _ in range(390):",
        "    try:",
        "        check_drawing(p, x, x)",
        "    except Exception:",
        "        pass",
    ),
    "empty items": ("check_drawing(p, [''] * 1_000_000, [])",),
    "a long text": ("check_file_exists('x' * 20_000_000)",),
    "many names": ("check_record(p, {str(i): '' for i in range(100_000)})",),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_arguments_that_cost_much_to_bring_out_are_refused_inside(
    sandbox: EvaluationSandbox, kind: str
) -> None:
    source = "def evaluate_agent_task_completion(p: str) -> bool:\n    "
    source += "\n    ".join((*COSTLY[kind], "return True\n"))
    tracemalloc.start()
    with work_within(5):
        found = sandbox.evaluate(source, {"p": "v"}, EVIDENCE, EVIDENCE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.outcome in ("refused", "timed_out", "out_of_memory") and not found.passed
    assert peak < 5_000_000


def test_what_hundreds_of_calls_asked_and_heard_is_kept_short(sandbox: EvaluationSandbox) -> None:
    """Texts of a character that needs four bytes, in arguments and answers."""
    mark = "\N{PERSONAL COMPUTER}"
    piece = Evidence(step=0, files=(FileState(path="long.txt", size=1, sha256="1", text=mark * 200_000),))
    source = (
        "def evaluate_agent_task_completion(p: str) -> bool:\n    for i in range(190):\n"
        f"        check_file_exists('{mark}' * 9_000 + str(i))\n        get_file_text('long.txt')\n"
        "    return True\n"
    )
    sandbox.evaluate(source, {"p": "v"}, EVIDENCE, EVIDENCE)
    tracemalloc.start()
    found = sandbox.evaluate(source, {"p": "v"}, piece, piece)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.passed and len(found.calls) == 380
    assert held < 8_000_000


@pytest.mark.parametrize("value", [["a"], {"a": "b"}, 1, None])
def test_a_parameter_that_is_no_text_is_refused(sandbox: EvaluationSandbox, value: object) -> None:
    source = "def evaluate_agent_task_completion(p: str) -> bool:\n    return check_file_exists(p)\n"
    found = sandbox.evaluate(source, {"p": value}, EVIDENCE)  # type: ignore[dict-item]
    assert found.outcome == "refused" and "'p'" in found.message
