"""From recordings of real work the offline writer still writes functions that the examination accepts.

What the writer is shown, what it asks for and what the examination holds against it have to fit each other,
and a change of one of them can cost subtasks of applications that no other test starts.
"""

import asyncio
from functools import cache

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.synthesis.evaluation_functions.evaluation_functions import Criticism, write_evaluation_function
from taskloom.synthesis.examination.examination import build_cases, examine
from taskloom.synthesis.examination.subject import is_on_screen
from taskloom.synthesis.examination.verdict import Thresholds, feedback
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.limits import LONGEST_SECONDS
from tests.synthesis.kept_recordings import FOLDER, kept_recordings
from tests.synthesis.models import TestModels

KEPT = kept_recordings()
PATIENT = SandboxSettings(
    seconds=LONGEST_SECONDS, grace_seconds=LONGEST_SECONDS, check_seconds=LONGEST_SECONDS
)
MOST_TRIES = 6
MOST_OTHERS = 6


def performed_beside(subtask: Subtask) -> list[Trajectory]:
    """Performances of other subtasks, those of the same application first."""
    others = sorted(KEPT, key=lambda name: (name.partition(".")[0] != subtask.application, name))
    return [KEPT[name].trajectories()[0] for name in others if name != subtask.subtask_id][:MOST_OTHERS]


async def verdict(subtask: Subtask, sandbox: EvaluationSandbox) -> tuple[str, str]:
    """What is wrong with the best function that the writer comes to, and the function."""
    applications = load_applications()
    models = TestModels(applications)
    performed = KEPT[subtask.subtask_id].trajectories()
    first = performed[0]
    instance = subtask.bind(first.parameters, load_resource_categories())
    cases = build_cases(
        first,
        instance=instance,
        other_parameter_sets=subtask.available_parameters,
        other_trajectories=[*performed[1:], *performed_beside(subtask)],
    )
    criticism: Criticism | None = None
    reason, tried = "nothing was written", set[str]()
    for attempt in range(MOST_TRIES):
        function = await write_evaluation_function(
            subtask,
            applications[subtask.application],
            performed,
            models=models,
            result_on_screen=is_on_screen(instance),
            criticism=criticism,
            attempt=attempt,
            provenance=Provenance(),
        )
        if function.source in tried:
            return reason, function.source
        tried.add(function.source)
        quality = examine(function.source, first, cases, sandbox)
        reason = feedback(quality, Thresholds())
        if not reason:
            return "", function.source
        criticism = Criticism(function.source, (reason,), quality)
    return reason, "".join(tried)


def kept_subtask(name: str) -> Subtask:
    application, _, rest = name.partition(".")
    entry = load_applications()[application]
    (example,) = [item for item in entry.example_subtasks if item.name == rest]
    return Subtask.of(example, entry, origin="curated")


@cache
def written_again(name: str) -> tuple[str, str]:
    """What is wrong with the function of a kept subtask, and the function."""
    with EvaluationSandbox(PATIENT) as sandbox:
        return asyncio.run(verdict(kept_subtask(name), sandbox))


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_function_is_written_again_and_accepted(name: str) -> None:
    reason, source = written_again(name)
    assert not reason, f"{reason}\n{source}"


@pytest.mark.parametrize("name", sorted(KEPT))
def test_the_untouched_state_has_no_progress(name: str) -> None:
    """Conditions that hold where nothing was done are about no effect of the work."""
    (done, *_), (_, source) = KEPT[name].trajectories(), written_again(name)
    with EvaluationSandbox(PATIENT) as sandbox:
        found = sandbox.evaluate(source, done.parameters, done.initial_evidence, done.initial_evidence)
    assert found.result is not None and found.result.progress == 0.0


def test_recordings_stay_small() -> None:
    files = list(FOLDER.glob("*.json"))
    assert files
    assert sum(path.stat().st_size for path in files) < 200_000
