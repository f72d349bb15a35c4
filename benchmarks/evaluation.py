"""Evaluations a second on recorded evidence: the sandbox compared with plain `exec` and with a fresh process
for each.

Plain `exec` is the upper limit of speed and isolates nothing; a fresh interpreter process is the isolation
available with the standard library alone. All three judge the same evidence with the same functions in one
run.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.run import Figure
from taskloom.evaluators_api.checks.declaration import Scene
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.evidence.ocr import ScreenReader
from taskloom.evaluators_api.interpreter.recorder import CallRecorder
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.evidence import Evidence, FileState, InputEvent
from taskloom.taskgraph.records.interaction import Control, Rectangle

WORKERS = 2
FUNCTION = """
from collections import namedtuple
EvalResult = namedtuple('EvalResult', ['success', 'message', 'progress'])

def evaluate_agent_task_completion(csv_path: str, title: str) -> EvalResult:
    if not check_mouse_clicks(text='More actions'):
        return EvalResult(False, "the 'More actions' button was not clicked", 0/4)
    if not check_text_exists_via_control(text='Imported ' + title):
        return EvalResult(False, 'the import is not shown', 1/4)
    if not check_file_exists(file_path=csv_path):
        return EvalResult(False, f"there is no file '{csv_path}'", 2/4)
    if not check_file_contains(file_path=csv_path, text=title):
        return EvalResult(False, 'the file lacks the title', 3/4)
    return EvalResult(True, 'done', 4/4)
"""
"""The paper's example with four checks, three of them of state."""
PARAMETERS = {"csv_path": "Documents/plan.csv", "title": "Quarterly plan"}


def figures(quick: bool = False) -> list[Figure]:
    pieces = [evidence(number) for number in range(50)]
    count = 500 if quick else 4000
    with EvaluationSandbox(SandboxSettings(workers=WORKERS)) as sandbox:
        sandboxed = rate(lambda number: evaluate_in_sandbox(sandbox, pieces[number % 50]), count, WORKERS)
        alone = rate(lambda number: evaluate_in_sandbox(sandbox, pieces[number % 50]), count // 2, 1)
        refused = rate(
            lambda number: sandbox.evaluate(f"x = {number}", PARAMETERS, pieces[0]).passed, count, 1
        )
        confined = "bubblewrap" if sandbox.confined else "no bubblewrap"
    plain = rate(lambda number: evaluate_by_exec(pieces[number % 50]), count, 1)
    fresh = rate(lambda number: run_in_fresh_process(), 10 if quick else 40, WORKERS)
    note = f"{WORKERS} workers, {confined}, evidence with 151 controls and 21 files"
    return [
        Figure("evaluations a second", sandboxed, "per second", "1000 or more", sandboxed >= 1000, note=note),
        Figure("with one worker", alone, "per second", note=note),
        Figure(
            "against plain exec",
            sandboxed / plain,
            "times as fast",
            baseline=f"plain exec, one thread: {plain:.0f}/s",
        ),
        Figure(
            "against a fresh process each",
            sandboxed / fresh,
            "times as fast",
            baseline=f"python -I -c, {WORKERS} at once, without any check: {fresh:.0f}/s",
        ),
        Figure("refused by static analysis", refused, "per second", note="another source each time"),
    ]


def evidence(number: int) -> Evidence:
    """Evidence of ordinary size, different for each number."""
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    buttons = [
        Control(label=str(index), text=f"Entry {index} of {number}", control_type="ListItem", rectangle=place)
        for index in range(150)
    ]
    shown = Control(label="150", text="Imported Quarterly plan", control_type="Text", rectangle=place)
    files = [
        FileState(
            path=f"Documents/file {index}.txt", size=9, sha256=f"{index:064x}", text=f"line {index}\n" * 200
        )
        for index in range(20)
    ]
    plan = FileState(
        path="Documents/plan.csv", size=9, sha256="f" * 64, text=f"title\nQuarterly plan\n{number}\n"
    )
    return Evidence(
        step=2,
        inputs=(InputEvent(step=1, kind="click", control=ControlQuery(text="More actions")),),
        controls=(*buttons, shown),
        files=(*files, plan),
    )


def evaluate_in_sandbox(sandbox: EvaluationSandbox, piece: Evidence) -> bool:
    return sandbox.evaluate(FUNCTION, PARAMETERS, piece).passed


def evaluate_by_exec(piece: Evidence) -> bool:
    """The same function with the same checks, run without any protection."""
    functions = CallRecorder(Scene(view(piece), ScreenReader())).functions()
    names: dict[str, object] = {"namedtuple": namedtuple, **functions}
    exec(compile(FUNCTION, "function", "exec"), names)
    return bool(names["evaluate_agent_task_completion"](**PARAMETERS).success)  # type: ignore[operator]


def run_in_fresh_process() -> bool:
    """The same source in its own interpreter, without any checks, so this is a lower bound."""
    program = FUNCTION + "\nprint(evaluate_agent_task_completion)"
    return (
        subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=True).returncode == 0
    )


def rate(evaluate: Callable[[int], bool], count: int, threads: int) -> float:
    """Calls a second of wall time, with `threads` at once; the first call is not counted."""
    evaluate(0)
    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(evaluate, range(count)))
    assert len(set(answers)) == 1
    return count / (time.perf_counter() - started)
