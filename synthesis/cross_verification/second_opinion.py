"""Where independently written functions for one subtask disagree: about states that somebody really
reached."""

from collections.abc import Iterator, Sequence

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.taskgraph.records.evaluation_function import Evaluation, EvaluationFunction
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.trajectory import Trajectory

_MOST_TOLD = 4


def disagreements(
    functions: Sequence[EvaluationFunction],
    performances: Sequence[Trajectory],
    sandbox: EvaluationSandbox,
) -> list[tuple[str, ...]]:
    """For each function, where another one judges a recorded state otherwise, in words; nothing where all
    agree.

    Every state of every performance is judged, not only its end: that the work is done too early or too late
    is seen there.
    """
    told: list[list[str]] = [[] for _ in functions]
    for where, trajectory, evidence in _states(performances):
        said = [
            sandbox.evaluate(
                function.source, trajectory.parameters, evidence, start=trajectory.initial_evidence
            )
            for function in functions
        ]
        if len({item.passed for item in said}) == 1:
            continue
        for number, own in enumerate(said):
            other = next(item for item in said if item.passed != own.passed)
            told[number].append(
                f"{where}, your function says {_verdict(own)}; another one, written independently for the"
                f" same instruction, says {_verdict(other)}. One of them is wrong: decide by the instruction."
            )
    return [tuple(items[:_MOST_TOLD]) for items in told]


def _states(performances: Sequence[Trajectory]) -> Iterator[tuple[str, Trajectory, Evidence]]:
    for trajectory in {item.trajectory_id: item for item in performances}.values():
        yield (
            f"Before the first step of {trajectory.instruction!r}",
            trajectory,
            trajectory.initial_evidence,
        )
        for step in trajectory.steps:
            when = "At the end" if step is trajectory.steps[-1] else f"After step {step.step}"
            yield f"{when} of {trajectory.instruction!r}", trajectory, step.evidence


def _verdict(evaluation: Evaluation) -> str:
    if evaluation.result is None:
        return f"nothing ({evaluation.outcome.replace('_', ' ')}: {evaluation.message})"
    verdict = "success" if evaluation.result.success else "failure"
    return f"{verdict} ({evaluation.result.message})" if evaluation.result.message else verdict
