"""Evaluation functions, what they return, and how far they can be trusted (App. C.3, method section 4)."""

import ast
import warnings
from contextlib import suppress
from threading import Lock
from typing import Literal, get_args

from pydantic import Field

from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import Allowance, SideEffects
from taskloom.taskgraph.records.provenance import Provenance

Reads = Literal["inputs", "screen", "files", "clipboard"]
"""Part of the evidence that a check reads; `inputs` is the route, the rest is state."""


class CheckFacts(Record):
    """What the declaration of a check says."""

    reads: Reads
    """Part of the evidence that it reads."""
    of_source: bool = False
    """Whether it compares with the content of a source at the start."""
    verdict: bool = True
    """Whether it returns a bool rather than a value."""

    @property
    def momentary(self) -> bool:
        """Whether the check judges the screen or clipboard, which later work changes."""
        return self.verdict and self.reads in ("screen", "clipboard")


ENTRY_POINT = "evaluate_agent_task_completion"
"""Name of the function that the Code LLM must define."""

_GenuineFamily = Literal["second_positive", "without_route", "without_messages", "incidental_change"]
CaseFamily = Literal[
    "no_op",
    "truncation",
    "near_miss",
    "not_saved",
    "wrong_parameter",
    "other_subtask",
    "undone_change",
    "wrong_value",
    "wrong_place",
    "swapped_values",
    "half_records",
    "collateral_loss",
    "untouched_product",
    _GenuineFamily,
]
"""Families of the kill matrix: wrong work, and right work (`GENUINE_FAMILIES`). `near_miss` and
`collateral_loss` occur only in older records: all inputs without the result are now `not_saved`, and other
damage counts as side effects."""
GENUINE_FAMILIES: frozenset[CaseFamily] = frozenset(get_args(_GenuineFamily))
"""Families of right work, which must pass; all others must fail."""


class EvalResult(Record):
    """What an evaluation function returns (App. C.3)."""

    success: bool
    """Whether the subtask was done."""
    message: str = ""
    """Explanation, for people and for the next round."""
    progress: float = Field(default=0.0, ge=0, le=1)
    """Share of the conditions that hold."""


class CheckCall(Record):
    """One call of a check, recorded outside the sandbox."""

    check: str
    """Name of the check."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """Its arguments as text."""
    answer: str = ""
    """Its answer as text."""


class Evaluation(Record):
    """One run of an evaluation function on one piece of evidence."""

    outcome: Literal[
        "result", "refused", "unavailable", "timed_out", "out_of_memory", "crashed", "bad_result"
    ]
    """`result` when the function returned; `unavailable` when it read something that the evidence lacks,
    which neither passes nor fails; otherwise the kind of failure."""
    result: EvalResult | None = None
    """The answer, for `result` only."""
    message: str = ""
    """Why there is no answer, in words the Code LLM can act on."""
    calls: tuple[CheckCall, ...] = ()
    """The checks that were called, in order."""
    result_form: Literal["", "three_fields", "two_fields", "bare_bool"] = ""
    """Form of the return value; the paper shows three fields (C.3), two fields and a bare bool (E.2)."""

    @property
    def passed(self) -> bool:
        """Whether the function ran and returned success."""
        return self.result is not None and self.result.success

    @property
    def said(self) -> str:
        """The function's own message; without a result, the kind of failure and its reason."""
        return self.result.message if self.result is not None else f"{self.outcome}: {self.message}"


class FamilyKills(Record):
    """How a function judged one family of cases."""

    family: CaseFamily
    """The family."""
    total: int
    """Cases in it."""
    killed: int
    """Cases that the function judged correctly: wrong work rejected, right work accepted."""
    survivors: tuple[str, ...] = ()
    """Descriptions of the misjudged cases."""
    excused: int = 0
    """Further cases that are not counted: the function accepted them before the first step."""


class FunctionQuality(Record):
    """How well an evaluation function tells right from wrong, measured on recorded evidence."""

    passes_positive: bool = False
    """Whether it passed the trajectory that it must pass; also False before it has been examined."""
    positive_message: str = ""
    """Its message when it did not pass that trajectory."""
    families: tuple[FamilyKills, ...] = ()
    """The kill matrix."""
    mutants: int = 0
    """Mutated versions of the function."""
    mutants_killed: int = 0
    """Mutants that some recorded evidence distinguished from the original."""
    route_dependence: float = 0.0
    """Share of its checks that read the input log rather than state."""
    untested_checks: tuple[str, ...] = ()
    """Idle conditions: removing all of them changes no verdict. Empty for accepted functions."""
    refusing_checks: tuple[str, ...] = ()
    """Conditions that answer differently for right work that is refused. Empty for accepted functions."""
    unguarded_changes: tuple[str, ...] = ()
    """Essential changes whose absence it does not notice. Empty for accepted functions."""
    routes: int = 0
    """Different routes among the performances that it was tested on; 1 where only one is known."""

    @property
    def variants(self) -> int:
        """Number of cases of correct work it was tested on."""
        return sum(item.total for item in self.families if item.family in GENUINE_FAMILIES)

    @property
    def variants_accepted(self) -> int:
        """Number of variants it accepted."""
        return sum(item.killed for item in self.families if item.family in GENUINE_FAMILIES)

    @property
    def mutation_score(self) -> float | None:
        """Share of mutants killed; None if there are none."""
        return self.mutants_killed / self.mutants if self.mutants else None


class EvaluationFunction(Record):
    """Generated code that judges one subtask."""

    function_id: str
    """Opaque id: subtask and hash of the source."""
    subtask_id: str
    """The subtask it judges."""
    source: str
    """Source as the Code LLM wrote it."""
    parameter_names: tuple[str, ...] = ()
    """Parameters of the entry point."""
    quality: FunctionQuality = FunctionQuality()
    """What the examination found."""
    accepted: bool = False
    """Whether cross-verification accepted it; rejected functions are kept for study."""
    allowed: tuple[Allowance, ...] | None = None
    """What right work may change; anything else is a side effect. None where it was not stored."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class VerificationRound(Record):
    """One round of cross-verification, kept whether it succeeded or not (method section 3)."""

    verification_id: str
    """Opaque id."""
    subtask_id: str
    """The subtask."""
    round: int
    """Number, from 1."""
    instance_id: str
    """The instance performed."""
    trajectory_id: str | None
    """Trajectory of the round."""
    function_id: str | None
    """Evaluation function of the round."""
    evaluation: Evaluation | None
    """The function's verdict on the trajectory."""
    quality: FunctionQuality | None = None
    """Kill matrix, if the round got that far."""
    accepted: bool
    """Whether the round ended in acceptance."""
    revised: Literal["both", "trajectory", "evaluation_function", "none"] = "none"
    """What the next round makes again."""
    reason: str = ""
    """Why the round was not accepted."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class JudgedOutcome(Record):
    """A function's verdict on one labelled outcome."""

    outcome_id: str
    """Opaque id: the case and the function."""
    case_id: str
    """The outcome."""
    subtask_id: str
    """The subtask."""
    application: str
    """Its application."""
    kind: str
    """Kind of outcome, such as `wrong content` or `another route`."""
    right: bool
    """Whether the outcome is right."""
    accepted: bool
    """Whether the function returned success."""
    function_id: str
    """The function."""
    message: str = ""
    """The function's message."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


def outcome_id(case_id: str, function_id: str) -> str:
    """The id of a function's verdict on a case.

    >>> outcome_id("notes.write/empty", "notes.write:1a2b")
    'notes.write/empty@notes.write:1a2b'
    """
    return f"{case_id}@{function_id}"


_PARSER_LOCK = Lock()
_MAXIMUM_TRIES = 20


def parse_source(code: str) -> ast.Module:
    """The syntax tree of `code`; parser warnings are kept off the terminal.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it contains characters that source code must not contain.
        RecursionError, MemoryError: it is nested too deeply.
    """
    with _PARSER_LOCK, warnings.catch_warnings():  # filters are per process: one thread at a time
        warnings.simplefilter("ignore")
        for _ in range(_MAXIMUM_TRIES):
            # Before Python 3.11.8 and 3.12.2 all threads share one recursion counter, which a library
            # parsing concurrently corrupts (python/cpython issue 106905); each attempt resets it.
            with suppress(SystemError):
                return ast.parse(code)
        return ast.parse(code)


class JudgedSubtask(Record):
    """One subtask of a task, with the evaluation function that judges it."""

    instance_id: str
    """The subtask bound to its parameters."""
    instruction: str = ""
    """Its instruction."""
    source: str
    """Source of the evaluation function."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Arguments of the function."""
    made_before: tuple[str, ...] = ()
    """Files that earlier subtasks of the task create, so that they exist at the start of this one."""
    as_left: tuple[str, ...] = ()
    """Files of applications in which earlier subtasks made what this one uses: its start is the state that
    they left, which is the state at the end."""
    given_from: dict[str, str] = Field(default_factory=dict)
    """Files whose text earlier subtasks copied to the clipboard or opened in an editor for this one: by
    `clipboard`, or by the path that stands for the open document."""
    left_out: tuple[str, ...] = ()
    """Checks that were removed: of screen and clipboard, and of what other subtasks of the task change."""


class JudgingSheet(Record):
    """How to judge a task by the final contents of its home folder."""

    task_id: str
    """The task."""
    instruction: str
    """Its instruction."""
    subtasks: tuple[JudgedSubtask, ...] = Field(min_length=1)
    """Subtasks that are judged, producers before consumers."""
    through_others: tuple[str, ...] = ()
    """Subtasks that leave no file behind: they are judged through those that use their results."""
    edges: tuple[tuple[str, str], ...] = ()
    """Producer and consumer of every dependency."""
    allowed: tuple[tuple[tuple[Allowance, ...], dict[str, str]], ...] | None = None
    """What the work of each subtask may change, with its parameters; None unless known for all of them."""
    noise: tuple[NoisePlace, ...] = ()
    """Places that change by themselves, as measured."""


class SubtaskJudgement(Record):
    """The judge's verdict on one subtask."""

    instance_id: str
    """The subtask."""
    success: bool
    """Whether its function returned success."""
    message: str = ""
    """The function's message, or why it returned none."""


class HomeJudgement(Record):
    """The judge's verdict on a task."""

    task_id: str
    """The task."""
    reward: float
    """1 when every judged subtask succeeded, 0 otherwise."""
    coverage: float
    """Share of the judged subtasks that succeeded."""
    subtasks: tuple[SubtaskJudgement, ...]
    """Every subtask, in the order of the sheet."""
    side_effects: SideEffects | None = None
    """What else was changed; None where the sheet does not say what the work may change."""

    @property
    def clean(self) -> bool | None:
        """Whether nothing else was changed; None if that is unknown."""
        return None if self.side_effects is None else not self.side_effects.total
