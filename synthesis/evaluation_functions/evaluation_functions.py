"""Evaluation functions: a code model writes them from what recorded performances changed (B.2, E.2)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from taskloom.evaluators_api.checks.declaration import Content
from taskloom.evaluators_api.reference import checks_reference
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import divided
from taskloom.evaluators_api.state.reading import FALLBACK, read
from taskloom.prompts.inputs import EvaluationWriterInput, Performance
from taskloom.prompts.rendering import template_hash
from taskloom.resources.applications import Application
from taskloom.synthesis.evaluation_functions.shown_effects import shown_effects
from taskloom.synthesis.evaluation_functions.task_shapes import constants, task_shape
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, FunctionQuality, Reads
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask, placeholders
from taskloom.taskgraph.records.trajectory import Trajectory

STAGE = "evaluation_functions"
_DRAWING = "drawing"


@dataclass(frozen=True, slots=True)
class Criticism:
    """What is wrong with the last function of a subtask."""

    source: str
    messages: tuple[str, ...]
    quality: FunctionQuality = field(default_factory=FunctionQuality)
    """What the examination found, if there was one."""


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
    """A function meant to accept what `trajectories` reached, for any parameters; it is neither run nor
    checked here.

    Raises:
        ModelClientError: no usable reply.
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
    reply = await models.ask(inputs, stage=STAGE, item_id=subtask.subtask_id, attempt=attempt)
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
    """Trajectories as the writer sees them: what they changed, not how."""
    divisions = divided(trajectories)
    constant = constants(trajectories, [(*item.essential, *item.incidental) for item in divisions])
    return tuple(
        Performance(
            instruction=trajectory.instruction,
            parameters=trajectory.parameters,
            shape=task_shape(trajectory, division.essential, constant),
            effects=shown_effects(trajectory, division),
        )
        for trajectory, division in zip(trajectories, divisions, strict=True)
    )


def needed_checks(trajectories: Sequence[Trajectory], *, on_screen: bool) -> frozenset[Reads | Content]:
    """Parts of the evidence, and contents of files, that functions for the work of `trajectories` may use:
    half of the reference is about formats that most work does not involve.

    The screen is included if the result is `on_screen` or in no file, or if screenshots may be taken. Files
    count if they changed or the work may read them: their path is in the instruction or a parameter, or the
    screen counts.
    """
    found: set[Reads | Content] = {"files"}
    for trajectory in trajectories:
        start, end = trajectory.initial_evidence, trajectory.final_evidence
        changed = effects(start, end, trajectory.parameters)
        changed_files = {effect.container for effect in changed if effect.area == "file"}
        if any(effect.area == "clipboard" for effect in changed) or start.clipboard.text:
            found.add("clipboard")
        screen_counts = on_screen or not changed_files
        if screen_counts or end.screen:
            found.add("screen")
        files = [*start.files, *(file for file in end.files if file.path in changed_files)]
        texts = " ".join((trajectory.instruction, *trajectory.parameters.values()))
        formats = {
            read(file.path, file.text)[0]
            for file in files
            if file.text is not None and (screen_counts or file.path in changed_files or file.path in texts)
        }
        found.update("drawing" if name == _DRAWING else "records" for name in formats - {FALLBACK})
    return frozenset(found)
