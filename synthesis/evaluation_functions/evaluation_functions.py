"""Evaluation functions: a code model writes them from what recorded performances changed (B.2, E.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from taskloom.evaluators_api.reference import checks_reference
from taskloom.evaluators_api.state.essential import divided
from taskloom.prompts.inputs import EvaluationWriterInput, Performance
from taskloom.prompts.rendering import template_hash
from taskloom.resources.applications import Application
from taskloom.synthesis.evaluation_functions.needed_checks import needed_checks
from taskloom.synthesis.evaluation_functions.shown_effects import shown_effects
from taskloom.synthesis.evaluation_functions.task_shapes import task_shapes
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, FunctionQuality
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask, placeholders
from taskloom.taskgraph.records.trajectory import Trajectory

STAGE = "evaluation_functions"


@dataclass(frozen=True, slots=True)
class Criticism:
    """Why the last function of a subtask is not good enough."""

    source: str
    """That function."""
    messages: tuple[str, ...]
    """What is wrong, in words."""
    quality: FunctionQuality = field(default_factory=FunctionQuality)
    """What the examination found, where there was one."""


async def write_evaluation_function(
    subtask: Subtask,
    application: Application,
    trajectories: Sequence[Trajectory],
    *,
    models: Models,
    result_on_screen: bool = False,
    criticism: Criticism | None = None,
    attempt: int = 0,
    provenance: Provenance,
) -> EvaluationFunction:
    """A function that is meant to accept what `trajectories` reached, for any parameters. Nothing is run or
    checked here.

    Raises:
        ReplyInvalidError: the model gives no usable reply.
        ReplyRefusedError: the model refuses.
        ModelClientError: calls cannot go on at all.
    """
    names = tuple(placeholders(subtask.instruction_template))
    last = criticism or Criticism("", ())
    inputs = EvaluationWriterInput(
        checks_reference=checks_reference(needed_checks(trajectories, on_screen=result_on_screen)),
        operating_system=subtask.operating_system,
        application=application.name,
        title=application.title,
        instruction_template=subtask.instruction_template,
        parameter_names=names,
        performances=performances(trajectories),
        result_on_screen=result_on_screen,
        previous_source=last.source,
        surviving_families=tuple(item.family for item in last.quality.families if item.killed < item.total),
        untested_checks=last.quality.untested_checks,
        refusing_checks=last.quality.refusing_checks,
        feedback=last.messages,
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


def performances(trajectories: Sequence[Trajectory]) -> tuple[Performance, ...]:
    """Trajectories as the writer is shown them: what they changed, not how."""
    divisions = divided(trajectories)
    shapes, changes = task_shapes(trajectories, divisions), shown_effects(trajectories, divisions)
    return tuple(
        Performance(
            instruction=trajectory.instruction,
            parameters=trajectory.parameters,
            shape=shape,
            effects=found,
        )
        for trajectory, shape, found in zip(trajectories, shapes, changes, strict=True)
    )
