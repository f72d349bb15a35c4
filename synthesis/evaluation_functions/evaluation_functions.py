"""Evaluation functions: a code model writes them from what recorded performances changed (B.2, E.2)."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators_api.reference import checks_reference
from prompts.inputs import EvaluationWriterInput, Performance, PerformedStep
from prompts.rendering import template_hash
from resources.applications import Application
from synthesis.evaluation_functions.evidence_changes import observed_change
from synthesis.ports import Models
from taskgraph.records.evaluation_function import EvaluationFunction
from taskgraph.records.provenance import Provenance
from taskgraph.records.subtask import Subtask, placeholders
from taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskgraph.source_parsing import parse_source

STAGE = "evaluation_functions"


@dataclass(frozen=True, slots=True)
class Criticism:
    """Why the last function of a subtask is not good enough."""

    source: str
    """That function."""
    messages: tuple[str, ...] = ()
    """What is wrong, in words."""
    surviving_families: tuple[str, ...] = ()
    """Families of wrong evidence that it accepted."""
    untested_checks: tuple[str, ...] = ()
    """Its checks that nothing recorded needs."""


async def write_evaluation_function(
    subtask: Subtask,
    application: Application,
    trajectories: Sequence[Trajectory],
    *,
    models: Models,
    criticism: Criticism | None = None,
    attempt: int = 0,
    provenance: Provenance,
) -> EvaluationFunction:
    """A function that is meant to accept what `trajectories` reached, for any parameters. Nothing is run or checked here.

    Raises:
        ReplyInvalidError: the model gives no usable reply.
        ReplyRefusedError: the model refuses.
        ModelClientError: calls cannot go on at all.
    """
    names = tuple(placeholders(subtask.instruction_template))
    inputs = EvaluationWriterInput(
        checks_reference=checks_reference(),
        operating_system=subtask.operating_system,
        application=application.name,
        title=application.title,
        instruction_template=subtask.instruction_template,
        parameter_names=names,
        performances=tuple(performance(item) for item in trajectories),
        previous_source=criticism.source if criticism else "",
        surviving_families=criticism.surviving_families if criticism else (),
        untested_checks=criticism.untested_checks if criticism else (),
        feedback=criticism.messages if criticism else (),
    )
    reply = await models.ask(
        inputs,
        stage=STAGE,
        item_id=subtask.subtask_id,
        attempt=attempt,
    )
    digest = hashlib.sha256(reply.source.encode()).hexdigest()[:12]
    return EvaluationFunction(
        function_id=f"{subtask.subtask_id}:{digest}",
        subtask_id=subtask.subtask_id,
        source=reply.source,
        parameter_names=names,
        provenance=provenance.model_copy(
            update={"stage": STAGE, "prompt": inputs.role, "prompt_hash": template_hash(inputs.role)}
        ),
    )


def ignored_parameters(function: EvaluationFunction, trajectories: Sequence[Trajectory]) -> tuple[str, ...]:
    """Parameters that the function's body never reads although all performances show their values.

    Such a function accepts work with any other value. A source that does not parse ignores nothing: static analysis
    says more about it.
    """
    try:
        tree = parse_source(function.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    read = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    unread = [name for name in function.parameter_names if name not in read]
    return tuple(name for name in unread if all(_shows(item, item.parameters[name]) for item in trajectories))


def _shows(trajectory: Trajectory, value: str) -> bool:
    """Whether the value, or the name of the file it is a path of, stands in what the performance changed."""
    change = observed_change(trajectory.initial_evidence, trajectory.final_evidence)
    texts = json.dumps(change.model_dump(mode="json"), ensure_ascii=False)
    parts = (value, value.rpartition("/")[2])
    return any(part and json.dumps(part, ensure_ascii=False)[1:-1] in texts for part in parts)


def performance(trajectory: Trajectory) -> Performance:
    """A trajectory as the writer is shown it: what each step did and what it changed."""
    before = trajectory.initial_evidence
    steps = []
    for step in trajectory.steps:
        change = observed_change(before, step.evidence)
        steps.append(PerformedStep(step=step.step, action=_described(step), change=change))
        before = step.evidence
    return Performance(
        instruction=trajectory.instruction,
        parameters=trajectory.parameters,
        steps=tuple(steps),
        change=observed_change(trajectory.initial_evidence, trajectory.final_evidence),
    )


def _described(step: TrajectoryStep) -> str:
    arguments = step.action.model_dump(
        mode="json", exclude={"operation", "control_label"}, exclude_defaults=True
    )
    target = f" on {step.target.control_type} {step.target.text!r}" if step.target else ""
    return f"{step.action.operation}({json.dumps(arguments, ensure_ascii=False)}){target}"
