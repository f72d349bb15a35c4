"""What an attempt at a task did beside success: what it changed beyond its subtasks' work, and what of their
work did not last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.account import Bound, beyond
from taskloom.synthesis.cross_verification.clean_work import may_change
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.records.effect import Allowance, SideEffects
from taskloom.taskgraph.records.evidence import Evidence
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
    _known: dict[str, tuple[Allowance, ...]] = field(default_factory=dict)

    def of(self, nodes: Sequence[BoundSubtask], start: Evidence, end: Evidence) -> SideEffects:
        """Side effects of an attempt at `nodes`, done or not, from `start` to `end`."""
        return beyond(start, end, [self._bound(node) for node in nodes])

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
            if sandbox.evaluate(source, parameters, last, item.start).passed:
                continue
            later = [self._bound(other.node) for other in completions[number + 1 :]]
            if later and not beyond(item.done, end, later, about=self._bound(item.node)).total:
                continue
            found.append(item.node.instance_id)
        return tuple(found)

    def _bound(self, node: BoundSubtask) -> Bound:
        """What a node may change: as kept with the function, or as the performances show where it is not."""
        item = self.verified.get(node.subtask_id)
        if item is None:
            return (), node.parameters
        if node.subtask_id not in self._known:
            kept = item.function.allowed
            self._known[node.subtask_id] = may_change(item.trajectories) if kept is None else kept
        return self._known[node.subtask_id], node.parameters
