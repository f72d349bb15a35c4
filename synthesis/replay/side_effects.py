"""What an attempt at a task did beside success: what it changed beyond its subtasks' work, and what of their
work did not last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.interpreter.recorder import guards_answered
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.account import Bound, allowances, beyond
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import divide
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.records.allowance import Allowance
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.side_effects import SideEffects
from taskloom.taskgraph.records.subtask import BoundSubtask


@dataclass(frozen=True, slots=True)
class Completion:
    """A subtask of an attempt that its function accepted."""

    node: BoundSubtask
    """The subtask."""
    start: Evidence
    """The state that its function compared with."""
    done: Evidence
    """The state that was accepted."""


@dataclass(slots=True)
class SideEffectAccount:
    """Knows what subtasks change when they are done as verified."""

    verified: Mapping[str, VerifiedSubtask]
    """Verified subtasks by id."""
    _known: dict[str, tuple[tuple[Allowance, ...], tuple[Bound, ...]]] = field(default_factory=dict)

    def of(self, nodes: Sequence[BoundSubtask], start: Evidence, end: Evidence) -> SideEffects:
        """Side effects of an attempt at `nodes`, done or not, from `start` to `end`."""
        applications = {node.application for node in nodes}
        usual = [
            bound
            for item in self.verified.values()
            if item.subtask.application in applications
            for bound in self._changes(item.subtask.subtask_id)[1]
        ]
        return beyond(start, end, [self._bound(node) for node in nodes], usual)

    def lost(
        self, completions: Sequence[Completion], end: Evidence, sandbox: EvaluationSandbox
    ) -> tuple[str, ...]:
        """Instance ids of the completed subtasks whose work is not there at the end.

        What a subtask that was completed later consumed, changed or covered is not lost.
        """
        found = []
        for number, item in enumerate(completions):
            if item.node.subtask_id not in self.verified:
                continue
            source = self.verified[item.node.subtask_id].function.source
            last = end.model_copy(update={"inputs": item.done.inputs})
            parameters = item.node.parameters
            if sandbox.evaluate(source, parameters, last, item.start, alter=guards_answered).passed:
                continue
            later = [self._bound(other.node) for other in completions[number + 1 :]]
            if later and not beyond(item.done, end, later, about=self._bound(item.node)).total:
                continue
            found.append(item.node.instance_id)
        return tuple(found)

    def _bound(self, node: BoundSubtask) -> Bound:
        known = node.subtask_id in self.verified
        return (self._changes(node.subtask_id)[0] if known else ()), node.parameters

    def _changes(self, subtask_id: str) -> tuple[tuple[Allowance, ...], tuple[Bound, ...]]:
        """What a subtask may change, and what its application changes on its own beside it."""
        known = self._known.get(subtask_id)
        if known is None:
            performances = [
                (effects(item.initial_evidence, item.final_evidence, item.parameters), item.parameters)
                for item in self.verified[subtask_id].trajectories
            ]
            usual = tuple(
                (allowances([([item for item in division.incidental if _is_own(item)], values)]), values)
                for (_, values), division in zip(performances, divide(performances), strict=True)
            )
            known = self._known[subtask_id] = (allowances(performances), usual)
        return known


def _is_own(effect: Effect) -> bool:
    """Whether an application keeps something for itself there; losing something is never housekeeping."""
    return effect.kind != "removed" and effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
