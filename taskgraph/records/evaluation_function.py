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
"""Part of the evidence that a check reads; `inputs` is the route taken, the rest is state."""


class CheckFacts(Record):
    """What a check's declaration says of it."""

    reads: Reads
    """Part of the evidence it reads."""
    of_source: bool = False
    """Whether it compares with what a source held at the start."""
    verdict: bool = True
    """Whether it answers yes or no, rather than with a value."""

    @property
    def momentary(self) -> bool:
        """Whether it judges what the screen shows or the clipboard holds, which later work changes."""
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
`collateral_loss` are only in what was stored before: all inputs without the result are `not_saved`, and
damage beside the work is for the account of side effects."""
GENUINE_FAMILIES: frozenset[CaseFamily] = frozenset(get_args(_GenuineFamily))
"""Families of right work, which must pass; all others must fail."""


class EvalResult(Record):
    """What an evaluation function returns (App. C.3)."""

    success: bool
    """Whether the subtask was done."""
    message: str = ""
    """Explanation for people and for the next round."""
    progress: float = Field(default=0.0, ge=0, le=1)
    """Share of the conditions that hold."""


class CheckCall(Record):
    """One call of a check, recorded on our side."""

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
    """`result` when the function answered; `unavailable` when it asked for something that the evidence does
    not hold, which is neither passed nor failed; otherwise the kind of refusal."""
    result: EvalResult | None = None
    """The answer, for `result` only."""
    message: str = ""
    """Why there is no answer, in words the Code LLM can act on."""
    calls: tuple[CheckCall, ...] = ()
    """The checks that were called, in order."""
    result_form: Literal["", "three_fields", "two_fields", "bare_bool"] = ""
    """How the function answered; the paper shows three fields (C.3), two fields and a bare bool (E.2)."""

    @property
    def passed(self) -> bool:
        """Whether the function ran and said success."""
        return self.result is not None and self.result.success

    @property
    def said(self) -> str:
        """The function's own message; without an answer, the kind of refusal and why."""
        return self.result.message if self.result is not None else f"{self.outcome}: {self.message}"


class FamilyKills(Record):
    """How a function fared against one family of cases."""

    family: CaseFamily
    """The family."""
    total: int
    """Pieces of evidence in it."""
    killed: int
    """Those that the function judged rightly: wrong work rejected, right work accepted."""
    survivors: tuple[str, ...] = ()
    """Descriptions of the wrongly judged ones."""
    excused: int = 0
    """Further pieces that count for nothing: the question was answered before the first step."""


class FunctionQuality(Record):
    """How well an evaluation function tells right from wrong, from recorded evidence."""

    passes_positive: bool = False
    """Whether it passed the trajectory that it must pass; False also while it has not been examined."""
    positive_message: str = ""
    """What it said of that trajectory when it did not pass it."""
    families: tuple[FamilyKills, ...] = ()
    """The kill matrix."""
    mutants: int = 0
    """Mutated versions of the function."""
    mutants_killed: int = 0
    """Those that some recorded evidence told from the original."""
    route_dependence: float = 0.0
    """Share of its checks that read the input log rather than state."""
    untested_checks: tuple[str, ...] = ()
    """Idle conditions: without all of them every case is judged alike. Empty for accepted functions."""
    refusing_checks: tuple[str, ...] = ()
    """Conditions that answer otherwise for right work that is refused. Empty for accepted functions."""
    unguarded_changes: tuple[str, ...] = ()
    """Essential changes that may be missing unnoticed. Empty for accepted functions."""
    routes: int = 0
    """Different routes among the performances that it was held against; 1 where only one is known."""

    @property
    def variants(self) -> int:
        """Pieces of right work that it was held against."""
        return sum(item.total for item in self.families if item.family in GENUINE_FAMILIES)

    @property
    def variants_accepted(self) -> int:
        """Those that it accepted."""
        return sum(item.killed for item in self.families if item.family in GENUINE_FAMILIES)

    @property
    def mutation_score(self) -> float | None:
        """Share of mutants killed; None without mutants."""
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
    """Whether cross-verification accepted it; the others are kept to study."""
    allowed: tuple[Allowance, ...] | None = None
    """What right work may change; anything else is a side effect. None where it was not kept."""
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
    """What the function said of the trajectory."""
    quality: FunctionQuality | None = None
    """Kill matrix, when it came to that."""
    accepted: bool
    """Whether the round ended in acceptance."""
    revised: Literal["both", "trajectory", "evaluation_function", "none"] = "none"
    """What the next round was asked to do again."""
    reason: str = ""
    """Why it was not accepted."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class JudgedOutcome(Record):
    """What a function said of one labelled outcome."""

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
    """Whether the function said success."""
    function_id: str
    """The function."""
    message: str = ""
    """What it said."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


def outcome_id(case_id: str, function_id: str) -> str:
    """The id of a function's verdict on a case.

    >>> outcome_id("notes.write/empty", "notes.write:1a2b")
    'notes.write/empty@notes.write:1a2b'
    """
    return f"{case_id}@{function_id}"


_lock = Lock()
_ATTEMPTS = 20


def parse_source(code: str) -> ast.Module:
    """The syntax tree of `code`; what the parser only warns of is kept off the terminal.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it holds characters that no source may hold.
        RecursionError: it is nested too deeply; so does MemoryError.
    """
    with _lock, warnings.catch_warnings():  # the filters belong to the process, so one thread at a time
        warnings.simplefilter("ignore")
        for _ in range(_ATTEMPTS):
            # Before Python 3.11.8 and 3.12.2 all threads share one count of the depth, and a library that
            # parses meanwhile upsets it (python/cpython issue 106905); every attempt starts its own count.
            with suppress(SystemError):
                return ast.parse(code)
        return ast.parse(code)


class JudgedSubtask(Record):
    """One subtask of the task, with the evaluation function that judges it."""

    instance_id: str
    """The subtask bound to its parameters."""
    instruction: str = ""
    """What it asks for."""
    source: str
    """Evaluation function."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """What the function is called with."""
    made_before: tuple[str, ...] = ()
    """Files that earlier subtasks of the task make: at the start of this one they are there already."""
    as_left: tuple[str, ...] = ()
    """Files of applications in which earlier subtasks made what this one takes over: its start is what they
    left, which is there at the end."""
    given_from: dict[str, str] = Field(default_factory=dict)
    """Files whose text earlier subtasks put into the clipboard or opened in an editor for this one: by
    `clipboard`, or by the path that stands for the open document."""
    left_out: tuple[str, ...] = ()
    """Checks taken out: of screen and clipboard, and of what other subtasks of the task change."""


class JudgingSheet(Record):
    """How a task is judged by what its home folder holds at the end."""

    task_id: str
    """The task."""
    instruction: str
    """What it asks for."""
    subtasks: tuple[JudgedSubtask, ...] = Field(min_length=1)
    """Subtasks that are judged, producers before consumers."""
    through_others: tuple[str, ...] = ()
    """Subtasks that leave no file behind: they are judged through those that use what they make."""
    edges: tuple[tuple[str, str], ...] = ()
    """Producer and consumer of every dependency."""
    allowed: tuple[tuple[tuple[Allowance, ...], dict[str, str]], ...] | None = None
    """What the work of each subtask may change, with its parameters; None where it is not known of all."""
    noise: tuple[NoisePlace, ...] = ()
    """Places that were measured to change by themselves."""


class SubtaskJudgement(Record):
    """What the judge says of one subtask."""

    instance_id: str
    """The subtask."""
    success: bool
    """Whether its function said success."""
    message: str = ""
    """What the function said, or why it could not answer."""


class HomeJudgement(Record):
    """What the judge says of a task."""

    task_id: str
    """The task."""
    reward: float
    """1 when every judged subtask succeeded, 0 otherwise."""
    coverage: float
    """Share of the judged subtasks that succeeded."""
    subtasks: tuple[SubtaskJudgement, ...]
    """Every subtask, in the order of the sheet."""
    side_effects: SideEffects | None = None
    """What was changed beside the work; None where the sheet does not say what the work may change."""

    @property
    def clean(self) -> bool | None:
        """Whether nothing was changed beside the work; None where nobody can tell."""
        return None if self.side_effects is None else not self.side_effects.total
