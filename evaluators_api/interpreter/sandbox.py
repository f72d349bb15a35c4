"""Runs evaluation functions where they can do no harm (method section 9): static analysis, a type check, then
a fresh session per evaluation in a worker process without access to the host, with limits on time, memory,
recursion, calls and output. Deterministic for the same source, parameters and evidence."""

import datetime
import math
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import Field
from pydantic_monty import (
    CollectString,
    Monty,
    MontyClassProxy,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
    MontyTypingError,
    OSPolicy,
    ResourceLimits,
)

from taskloom.environments.machines.bubblewrap import Isolation
from taskloom.evaluators_api.checks.declaration import Scene
from taskloom.evaluators_api.errors import EvaluatorsApiError, SandboxUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import view
from taskloom.evaluators_api.evidence.ocr import ScreenReader, TextReader
from taskloom.evaluators_api.interpreter.recorder import (
    HOST_PREFIX,
    Alteration,
    CallRecorder,
    RememberedRuns,
    wrappers,
)
from taskloom.evaluators_api.interpreter.static_analysis import Analysis, analyse
from taskloom.evaluators_api.interpreter.worker_isolation import WorkerProgram
from taskloom.evaluators_api.reference import type_stubs
from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT, EvalResult, Evaluation
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.text_folding import composed

_OS_POLICY: OSPolicy = {
    "datetime": datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC),
    "random_start": {"seed": 0},
    "sleep": "zero",
}
_ENTRY_CALL = f"\n{ENTRY_POINT}(**parameters_of_the_subtask)\n"
_TYPE_ERROR = re.compile(
    r"^main\.py:(\d+):\d+:"
    r" error\[(unresolved-reference|missing-argument|unknown-argument|too-many-positional-arguments"
    r"|parameter-already-assigned|invalid-argument-type|call-non-callable|unresolved-import)\] (.*)$",
    re.MULTILINE,
)
"""Type errors that are always faults; the checker also reports what the interpreter can run."""
_MOST_VERDICTS = 4096
_MOST_FUNCTIONS = 256
"""Maximum functions, each with its parameters, with remembered runs."""
_TYPE_CHECK_TRIES = 2
"""Attempts to check types: a busy machine may not do it in time."""
_WORKER_TIMEOUT = 10.0
"""Seconds beyond its own limit after which a worker that does not answer is killed."""
_TOO_SLOW = f"its types cannot be checked within {_WORKER_TIMEOUT:g} seconds; write it more plainly"
LONGEST_MESSAGE = 4_000
"""Maximum characters kept of a message."""
_FIELDS = ("success", "message", "progress")
_ADVICE = "return EvalResult(success, message, progress)"


class _UnreadableResultError(EvaluatorsApiError):
    """The value that the code returned cannot be transferred; recorded as a bad result."""


class SandboxSettings(Record):
    """Limits of one evaluation, and how workers run."""

    workers: int = Field(default=2, ge=1)
    """Worker processes, one for each concurrent evaluation."""
    seconds: float = Field(default=0.5, gt=0)
    """Processor time of one evaluation, without checks."""
    grace_seconds: float = Field(default=0.5, gt=0)
    """Extra time after which a worker that does not stop by itself is killed."""
    memory_bytes: int = Field(default=64 * 1024 * 1024, gt=0)
    """Memory of the code."""
    recursion_depth: int = Field(default=200, gt=0)
    """Depth of nested calls."""
    calls: int = Field(default=400, gt=0)
    """Calls out of the sandbox: checks and functions on path names."""
    check_seconds: float = Field(default=20.0, gt=0)
    """Total time for the checks of one evaluation, including reading pictures."""
    output_bytes: int = Field(default=64 * 1024, gt=0)
    """Printed output, all of which is discarded."""
    evaluations_per_worker: int = Field(default=2_000, gt=0)
    """Evaluations after which a worker is replaced."""
    isolation: Isolation = "automatic"
    """Whether workers run inside bubblewrap."""
    ocr_folder: Path | None = None
    """Folder for texts read from pictures; by default they are kept in memory only."""


class EvaluationSandbox:
    """A pool of workers that evaluate; a context manager, safe to share between threads.

    Nothing that happens inside an evaluation is ever raised: it is an `Evaluation` with an outcome and a
    message that the Code LLM can act on.
    """

    def __init__(self, settings: SandboxSettings | None = None, *, reader: TextReader | None = None) -> None:
        self.settings = settings or SandboxSettings()
        self.confined = False
        """Whether workers run inside bubblewrap; known once entered."""
        self._reader = reader or ScreenReader(self.settings.ocr_folder)
        self._started = ExitStack()
        self._pool: Monty | None = None
        self._verdicts: dict[str, str] = {}
        self._verdicts_lock = threading.Lock()
        self._runs: Callable[[str, tuple[tuple[str, str], ...]], RememberedRuns] = lru_cache(_MOST_FUNCTIONS)(
            lambda source, parameters: RememberedRuns()
        )
        self._limits: ResourceLimits = {
            "max_feed_duration_secs": self.settings.seconds,
            "max_memory": self.settings.memory_bytes,
            "max_recursion_depth": self.settings.recursion_depth,
            "max_suspensions": self.settings.calls,
        }

    def __enter__(self) -> Self:
        """Start the workers.

        Raises:
            SandboxUnavailableError: the interpreter is missing, or the requested isolation is not available.
        """
        self._program = program = WorkerProgram(self.settings.isolation)
        self.confined = program.confined
        with ExitStack() as started:
            started.callback(program.close)
            try:
                pool = Monty(
                    binary_path=program.path,
                    min_processes=1,
                    max_processes=self.settings.workers,
                    request_timeout=self.settings.seconds + _WORKER_TIMEOUT,
                    max_checkouts_per_worker=self.settings.evaluations_per_worker,
                    feed_duration_limit_grace=self.settings.grace_seconds,
                )
                self._pool = started.enter_context(pool)
            except (OSError, RuntimeError, MontyError) as error:
                reason = f"The sandbox's workers do not start: {str(error)[:300]}."
                raise SandboxUnavailableError(reason) from error
            self._started = started.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the workers and remove their files."""
        self._pool = None
        self._started.__exit__(kind, error, trace)

    def evaluate(
        self,
        source: str,
        parameters: Mapping[str, str],
        evidence: Evidence,
        start: Evidence | None = None,
        *,
        alter: Alteration | None = None,
    ) -> Evaluation:
        """Judge `evidence` with the function in `source` for a subtask with `parameters`.

        `start` is the evidence at the start of the subtask; without it, checks that compare with the start
        are refused. `alter` changes answers of checks before the function gets them, to find out what depends
        on them.

        Raises:
            SandboxUnavailableError: the sandbox was not entered, or was left.
        """
        not_text = next((name for name, value in parameters.items() if not isinstance(value, str)), None)
        if not_text is not None:
            type_name = type(parameters[not_text]).__name__
            message = f"the parameter {not_text!r} is of type {type_name}; it must be a text"
            return Evaluation(outcome="refused", message=message)
        scene = Scene(view(evidence), self._reader, None if start is None else view(start))
        recorder = CallRecorder(scene, seconds=self.settings.check_seconds, alter=alter)
        runs = self._runs(source, tuple(sorted(parameters.items())))
        remembered = recorder.follow(runs.root)
        if remembered is not None:
            return remembered
        analysis = self.admit(source, tuple(parameters))
        if analysis.problems:
            return Evaluation(outcome="refused", message=analysis.message)
        try:
            evaluation = parse_result(self._run(analysis, parameters, recorder))
        except MontyError as error:
            evaluation = self._explain(error)
        except _UnreadableResultError as error:
            return Evaluation(outcome="bad_result", message=str(error), calls=recorder.calls())
        calls = recorder.calls()
        if recorder.refusal:
            evaluation = Evaluation(outcome=recorder.outcome, message=recorder.refusal)
        elif evaluation.passed and not calls:
            message = "success was claimed without asking a single check"
            evaluation = Evaluation(outcome="bad_result", message=message)
        if evaluation.result is not None and recorder.run is not None:
            runs.add(recorder.run, evaluation)
        return evaluation.model_copy(update={"calls": calls})

    def admit(self, source: str, parameter_names: tuple[str, ...]) -> Analysis:
        """Analyse the source, then check its types against the declarations of the checks; return one
        analysis with the problems found.

        Raises:
            SandboxUnavailableError: the sandbox was not entered, or was left.
        """
        analysis = analyse(source, parameter_names)
        if analysis.problems:
            return analysis
        verdict = self._verdicts.get(analysis.prepared)
        if verdict is None:
            attempts = (self._check_types(analysis.prepared) for _ in range(_TYPE_CHECK_TRIES))
            verdict = next((errors for errors in attempts if errors is not None), None)
            if verdict is None:
                return analysis.refused_for(_TOO_SLOW)
            with self._verdicts_lock:
                if len(self._verdicts) >= _MOST_VERDICTS:
                    self._verdicts.clear()
                self._verdicts[analysis.prepared] = verdict
        return analysis.refused_for(verdict) if verdict else analysis

    def _run(self, analysis: Analysis, parameters: Mapping[str, str], recorder: CallRecorder) -> object:
        arguments = {name: composed(parameters[name]) for name in analysis.parameters}
        functions = recorder.functions()
        functions |= {f"{HOST_PREFIX}{name}": functions[name] for name in analysis.checks_called}
        with self._session(type_check=False) as session:
            try:
                return session.feed_run(
                    wrappers(analysis.checks_called) + analysis.prepared + _ENTRY_CALL,
                    inputs={"parameters_of_the_subtask": arguments},
                    external_lookup=functions,
                    print_callback=CollectString(self.settings.output_bytes),
                )
            except MontyError:
                raise
            except Exception as error:
                # Some values of the interpreter cannot be rebuilt in this process: an instance of one of its
                # classes has no hash here, so it cannot be in a set or be a key.
                raise _UnreadableResultError(
                    f"the result cannot be read (a class instance in a set or as a key?); {_ADVICE} of plain"
                    " values"
                ) from error

    def _check_types(self, prepared: str) -> str | None:
        """The type errors, empty if there are none; None if the check did not end in time."""
        try:
            with self._session(type_check=True) as session:
                session.feed_run(prepared, print_callback=CollectString(self.settings.output_bytes))
        except MontyTypingError as error:
            lines = prepared.splitlines()
            errors = [
                f"{message} (in `{lines[int(line) - 1].strip()[:120]}`)"
                for line, _, message in _TYPE_ERROR.findall(error.display())
                if int(line) <= len(lines)
            ]
            return "\n".join(dict.fromkeys(errors))
        except MontyCrashedError as error:
            return None if error.timed_out else _TOO_SLOW
        except MontyError:
            return ""
        return ""

    def _session(self, *, type_check: bool) -> MontySession:
        if self._pool is None:
            raise SandboxUnavailableError("The sandbox is not running; use it as a context manager.")
        return self._pool.checkout(
            limits=self._limits,
            os_policy=_OS_POLICY,
            type_check=type_check,
            type_check_stubs=type_stubs() if type_check else None,
            type_check_format="concise" if type_check else None,
        )

    def _explain(self, error: MontyError) -> Evaluation:
        settings, text = self.settings, str(error)[:300]
        timeout = Evaluation(
            outcome="timed_out", message=f"it did not stop within {settings.seconds} seconds"
        )
        if isinstance(error, MontyCrashedError):
            overdue = error.timed_out or "limit" in str(error)
            return timeout if overdue else Evaluation(outcome="crashed", message="the interpreter died on it")
        cause = None if isinstance(error, MontySyntaxError) else error.exception()
        if cause is None or isinstance(cause, NotImplementedError):
            return Evaluation(outcome="refused", message=f"this is not in the language: {text}")
        if isinstance(cause, ImportError):
            return Evaluation(outcome="refused", message=f"this cannot be imported: {text}")
        if isinstance(cause, TimeoutError):
            return timeout
        if isinstance(cause, MemoryError):
            message = f"it used more than {settings.memory_bytes >> 20} MB, or printed too much"
            return Evaluation(outcome="out_of_memory", message=message)
        if "suspension limit" in text:
            return Evaluation(outcome="crashed", message=f"it called more than {settings.calls} checks")
        if isinstance(error, MontyRuntimeError) and (frames := error.traceback()):
            text += f" (in `{(frames[-1].source_line or '').strip()[:120]}`)"
        return Evaluation(outcome="crashed", message=text)


def parse_result(returned: object) -> Evaluation:
    """The result in `returned`, or what is wrong with it, worded for the Code LLM. Never raises.

    Accepts a bare bool, or a tuple, list, dict, dataclass or plain object with `success` and `message`, with
    or without `progress`. `success` must be a bool, `message` a text or None, `progress` a finite number
    from 0 to 1.

    >>> parse_result((True, "done")).result_form, parse_result(False).result.progress
    ('two_fields', 0.0)
    >>> parse_result((1, "done")).message
    '`success` is of type int; it must be True or False'
    """
    form: Literal["bare_bool", "two_fields", "three_fields"] = "bare_bool"
    fields = (returned, None, None) if type(returned) is bool else _result_fields(returned)
    if isinstance(fields, str):
        return _bad_result(fields)
    success, message, progress = fields
    if type(success) is not bool:
        return _bad_result(f"`success` is of type {_type_name(success)}; it must be True or False")
    if message is not None and type(message) is not str:
        return _bad_result(f"`message` is of type {_type_name(message)}; it must be a text")
    if type(returned) is not bool:
        form = "two_fields" if progress is None else "three_fields"
    if progress is None:
        progress = float(success)
    if type(progress) not in (int, float, bool) or not isinstance(progress, int | float):
        return _bad_result(f"`progress` is of type {_type_name(progress)}; it must be a number from 0 to 1")
    if abs(progress) > 1_000 or not math.isfinite(progress) or not -1e-9 <= progress <= 1 + 1e-9:
        return _bad_result("`progress` is outside of 0 to 1; it is the share of conditions that hold")
    text = (message or "")[:LONGEST_MESSAGE].encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    share = min(1.0, max(0.0, round(float(progress), 6)))
    result = EvalResult(success=success, message=text, progress=share)
    return Evaluation(outcome="result", result=result, result_form=form)


def _bad_result(message: str) -> Evaluation:
    return Evaluation(outcome="bad_result", message=message)


def _result_fields(returned: object) -> tuple[object, object, object] | str:
    if isinstance(returned, MontyClassProxy):
        returned = returned.attributes
    if isinstance(returned, Mapping):
        if "success" not in returned:
            return f"the result has no `success`; {_ADVICE}"
        unknown = sorted(str(key)[:40] for key in returned if key not in _FIELDS)
        if unknown:
            return f"the result has the unknown fields {', '.join(unknown[:5])}; {_ADVICE}"
        return returned["success"], returned.get("message"), returned.get("progress")
    if isinstance(returned, tuple | list):
        if len(returned) not in (2, 3):
            return f"the result has {len(returned)} fields; {_ADVICE}"
        names = getattr(returned, "_fields", None)
        if names is not None and tuple(names) != _FIELDS[: len(returned)]:
            shown = ", ".join(map(str, names))[:100]
            return f"the result's fields are {shown}; they must be success, message, progress"
        return returned[0], returned[1], returned[2] if len(returned) == 3 else None
    return f"the result is of type {_type_name(returned)}; {_ADVICE}"


def _type_name(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
