"""The score of a possible execution sequence on a task graph, and the graph-based evaluator: node states that
follow an agent through a task graph (section 4.1)."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from pydantic import Field

from taskloom.omnieval.errors import EvaluationEndedError, SequenceImpossibleError
from taskloom.omnieval.lookup import Attempt, further, measured
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.coherency import coherency_score, maximum_coherency_of
from taskloom.taskgraph.measures.interference import threats_of
from taskloom.taskgraph.reading.task_graphs import UNNAMED_RESOURCE
from taskloom.taskgraph.records.effect import SideEffects
from taskloom.taskgraph.records.evaluation_function import Evaluation
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Interference


class Score(Record):
    """The score of an agent on one task graph."""

    coverage_rate: float
    """Depth-weighted share of completed subtasks, 0 to 1."""
    coherency_score: int
    """Adjacent same-application pairs in the executed sequence."""
    maximum_coherency: int
    """Largest coherency score of any successful order."""
    logical_consistency: float | None
    """Their ratio; None if the maximum is 0, because all orders are equally coherent, or if some subtask's
    application is unknown."""
    success: bool
    """Whether every subtask was completed."""
    further_metrics: dict[str, float] = Field(default_factory=dict)
    """Values of other metrics by name, without undefined ones."""


def score_of(graph: TaskGraph, completed: Sequence[str]) -> Score:
    """Score the subtasks `completed` in this order.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> graph = read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str)
    >>> score_of(graph, ["a"]).coverage_rate == 1 / 3
    True

    Raises:
        SequenceImpossibleError: the graph is empty, or the sequence is not possible (see `require_possible`).
        GraphTooLargeError: more than 30 subtasks.
    """
    if not graph.nodes:
        raise SequenceImpossibleError("The graph has no subtasks, so there is nothing to score.")
    require_possible(graph, completed)
    values = measured(Attempt(graph, tuple(completed)))
    return Score(
        coverage_rate=values["coverage_rate"] or 0.0,
        coherency_score=executed_coherency(graph, completed),
        maximum_coherency=maximum_coherency_of(graph) or 0,
        logical_consistency=values["logical_consistency"],
        success=len(completed) == len(graph.nodes),
        further_metrics=further(values),
    )


def executed_coherency(graph: TaskGraph, completed: Sequence[str]) -> int:
    """Adjacent same-application pairs in the sequence of completed subtasks.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> graph = read_task_graph({"nodes": ["a", "b"], "applications": {"a": "Notes", "b": "Notes"}}, {}, str)
    >>> executed_coherency(graph, ["b", "a"])
    1
    """
    applications = {node.instance_id: node.application for node in graph.nodes}
    return coherency_score([applications[name] for name in completed])


def require_possible(graph: TaskGraph, completed: Sequence[str]) -> None:
    """Refuse a sequence of completions that no agent could have produced.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> require_possible(read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str), ["b"])
    Traceback (most recent call last):
    taskloom.omnieval.errors.SequenceImpossibleError: 'b' (number 1) depends on 'a', which is not ...

    A subtask may overwrite or consume what another one still needs; the other one cannot be completed after
    it and is refused if it comes later in the sequence.

    Raises:
        SequenceImpossibleError: the first subtask that is unknown, occurs twice, comes before one that it
            depends on, or reads what is lost by then; the subtasks and the resource are named.
    """
    names = [node.instance_id for node in graph.nodes]
    producers: dict[str, dict[str, str]] = {}
    for edge in graph.edges:
        is_named = edge.resource.category != UNNAMED_RESOURCE
        resource = f" for {edge.resource.category} {edge.resource.value}".rstrip() if is_named else ""
        producers.setdefault(edge.consumer, {})[edge.producer] = resource
    threats = [threat.record(graph) for threat in threats_of(graph)]
    done: dict[str, int] = {}
    for position, name in enumerate(completed, start=1):
        if name not in names:
            raise SequenceImpossibleError(
                f"Number {position} of the sequence, {name!r}, is not in the graph."
                f" Known: {', '.join(names)}."
            )
        if name in done:
            repetition = f"occurs twice in the sequence, the second time as number {position}"
            raise SequenceImpossibleError(f"{name!r} {repetition}.")
        for producer, resource in producers.get(name, {}).items():
            if producer not in done:
                violation = f"depends on {producer!r}{resource}, which is not completed before it"
                raise SequenceImpossibleError(f"{name!r} (number {position}) {violation}.")
        for threat in threats:
            if threat.consumer == name and _has_spoiled(threat, done):
                verb = "overwritten" if threat.kind == "overwritten_slot" else "consumed"
                violation = f"reads {threat.resource}, which {threat.spoiler!r} has {verb} before"
                raise SequenceImpossibleError(f"{name!r} (number {position}) {violation}.")
        done[name] = position


def _has_spoiled(threat: Interference, done: Mapping[str, int]) -> bool:
    """Whether the spoiler is done; for an overwritten slot, after the producer."""
    position = done.get(threat.spoiler, 0)
    return bool(position) and not (threat.kind == "overwritten_slot" and done[threat.producer] > position)


Outcome = Literal["running", "completed", "stalled", "step_limit", "finished_early"]
"""State of a task: still running, all subtasks done, nothing completed for N steps, out of steps, or stopped
by the agent before the end."""


class NodeState(StrEnum):
    """State of a subtask."""

    WAITING = "Waiting"
    """A subtask it depends on is not completed."""
    EVALUATING = "Evaluating"
    """Its evaluation function runs after every action."""
    COMPLETED = "Completed"
    """Its evaluation function has returned success; this state is final."""


SubtaskJudge = Callable[[BoundSubtask, int], Evaluation]
"""Judges one subtask on the evidence of the episode so far; actions up to the given step are ignored."""


class GraphEvaluation(Record):
    """The outcome of one task."""

    outcome: Outcome
    """How it ended."""
    states: dict[str, NodeState]
    """Final state of every subtask."""
    completed: tuple[str, ...]
    """Completed subtasks in the order of their completion."""
    steps: int
    """Number of actions."""
    progress: dict[str, float]
    """Best progress reported by any evaluation of each subtask."""
    coverage_rate: float
    """Depth-weighted share of completed subtasks."""
    logical_consistency: float | None
    """Coherency of the completions, divided by the maximum; None if that is 0."""
    side_effects: SideEffects | None = None
    """What was changed beyond the outcome; None if that was not checked."""
    lost: tuple[str, ...] | None = None
    """Completed subtasks whose result is gone at the end; None if that was not checked."""
    further_metrics: dict[str, float] = Field(default_factory=dict)
    """Values of other metrics by name, without undefined ones."""

    @property
    def success(self) -> bool:
        """Whether every subtask was completed."""
        return self.outcome == "completed"

    @property
    def clean(self) -> bool | None:
        """Whether nothing else was changed; None if that was not checked."""
        return None if self.side_effects is None else not self.side_effects.total

    @property
    def held(self) -> bool | None:
        """Whether everything completed still holds at the end; None if that was not checked."""
        return None if self.lost is None else not self.lost


class GraphEvaluator:
    """Follows one episode on one task graph.

    Subtasks without prerequisites start as Evaluating, all others as Waiting. After each action every
    Evaluating subtask is judged; a completed one stays Completed, and a subtask whose prerequisites are all
    Completed becomes Evaluating from the next action on, so the result does not depend on the order of
    the nodes.
    """

    def __init__(
        self, graph: TaskGraph, judge: SubtaskJudge, *, patience: int = 20, step_limit: int = 200
    ) -> None:
        """Start before the first action; `patience` is the number of steps without any completion after which
        the task has failed (the paper's N)."""
        self._graph, self._judge = graph, judge
        self._patience, self._step_limit = patience, step_limit
        self._needs: dict[str, set[str]] = {node.instance_id: set() for node in graph.nodes}
        for producer, consumer in graph.pairs:
            self._needs[consumer].add(producer)
        self._opened_at = {name: 0 for name, needs in self._needs.items() if not needs}
        self._completed: dict[str, int] = {}
        self._progress = dict.fromkeys(self._needs, 0.0)
        self._steps = 0
        self._outcome: Outcome = "running" if self._needs else "completed"

    @property
    def outcome(self) -> Outcome:
        """Current state of the task."""
        return self._outcome

    def state_of(self, instance_id: str) -> NodeState:
        """Current state of one subtask."""
        if instance_id in self._completed:
            return NodeState.COMPLETED
        return NodeState.EVALUATING if instance_id in self._opened_at else NodeState.WAITING

    def after_action(self) -> tuple[str, ...]:
        """Judge all Evaluating subtasks after one more action; returns the newly completed ones. An
        `EvaluationEndedError` if the task has already ended."""
        if self._outcome != "running":
            raise EvaluationEndedError(f"The task has ended ({self._outcome}) after {self._steps} steps.")
        self._steps += 1
        completed = self._judge_nodes()
        if len(self._completed) == len(self._needs):
            self._outcome = "completed"
        elif self._steps - max(self._completed.values(), default=0) >= self._patience:
            self._outcome = "stalled"
        elif self._steps >= self._step_limit:
            self._outcome = "step_limit"
        return completed

    def finish(self) -> GraphEvaluation:
        """End the episode after judging the subtasks that the last action opened, and return the outcome."""
        while self._outcome in ("running", "step_limit") and self._judge_nodes():
            pass
        if len(self._completed) == len(self._needs):
            self._outcome = "completed"
        elif self._outcome == "running":
            self._outcome = "finished_early"
        completed = tuple(self._completed)
        values = measured(Attempt(self._graph, completed, self._steps))
        return GraphEvaluation(
            outcome=self._outcome,
            states={name: self.state_of(name) for name in self._needs},
            completed=completed,
            steps=self._steps,
            progress=dict(self._progress),
            coverage_rate=values["coverage_rate"] or 0.0,
            logical_consistency=values["logical_consistency"],
            further_metrics=further(values),
        )

    def _judge_nodes(self) -> tuple[str, ...]:
        completed = []
        for node in self._graph.nodes:
            name = node.instance_id
            if self.state_of(name) is not NodeState.EVALUATING:
                continue
            evaluation = self._judge(node, self._opened_at[name])
            if evaluation.result is not None:
                self._progress[name] = max(self._progress[name], evaluation.result.progress)
            if evaluation.passed:
                completed.append(name)
        for name in completed:
            self._completed[name] = self._steps
            self._progress[name] = 1.0
        for name, needs in self._needs.items():
            if name not in self._opened_at and needs <= self._completed.keys():
                self._opened_at[name] = self._steps
        return tuple(completed)
