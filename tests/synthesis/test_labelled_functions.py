"""On labelled functions over recorded subtasks, all good ones are accepted and no flawed one is."""

from benchmarks.function_templates import labelled_functions
from benchmarks.labelled_functions import LEAST_FLAWED, judge
from benchmarks.recordings import simulated_recordings
from evaluators_api.interpreter.sandbox import EvaluationSandbox

RECORDINGS = simulated_recordings()


def test_every_subtask_has_a_good_function_and_enough_flawed_ones() -> None:
    for recorded in RECORDINGS:
        functions = labelled_functions(recorded)
        assert sum(function.good for function in functions) == 1
        assert len(functions) - 1 >= LEAST_FLAWED, recorded.subtask.subtask_id


def test_acceptance_tells_the_good_from_the_flawed() -> None:
    with EvaluationSandbox() as sandbox:
        outcome = judge(RECORDINGS, sandbox, mutate=False)
    assert outcome.mistakes == []
    assert outcome.precision == outcome.recall == 1.0
