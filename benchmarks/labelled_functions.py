"""Precision and recall of accepting evaluation functions, on a labelled set over recorded subtasks.

Recordings of the installed applications are used where `python -m benchmarks.recordings` has made them, and those of the
simulated applications beside them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from benchmarks.function_templates import Labelled, labelled_functions
from benchmarks.recordings import RecordedSubtask, simulated_recordings, stored_recordings
from benchmarks.run import Figure
from evaluators_api.interpreter.sandbox import EvaluationSandbox
from resources.reading.catalog import load_resource_categories
from synthesis.examination.examination import NegativeThresholds, build_negatives, examine, unacceptable

LEAST_FLAWED = 8


@dataclass
class Outcome:
    """What became of a labelled set."""

    subtasks: int = 0
    good: int = 0
    good_accepted: int = 0
    flawed: int = 0
    flawed_accepted: int = 0
    left_out: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    flaws: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def precision(self) -> float:
        """Share of the accepted functions that are good."""
        accepted = self.good_accepted + self.flawed_accepted
        return self.good_accepted / accepted if accepted else 0.0

    @property
    def recall(self) -> float:
        """Share of the good functions that are accepted."""
        return self.good_accepted / self.good if self.good else 0.0


def judge(
    recordings: Sequence[RecordedSubtask], sandbox: EvaluationSandbox, *, mutate: bool = True
) -> Outcome:
    """Examine every labelled function of every recorded subtask.

    Mutants are only made of functions that nothing else speaks against, and none at all without `mutate`.
    """
    outcome = Outcome()
    started = time.perf_counter()
    work = [(item, labelled_functions(item)) for item in recordings]
    with ThreadPoolExecutor(sandbox.settings.workers) as threads:
        for item, functions, answers in threads.map(
            lambda pair: (*pair, _accepted(*pair, recordings, sandbox, mutate)), work
        ):
            name = item.subtask.subtask_id
            flawed = sum(not function.good for function in functions)
            if flawed < LEAST_FLAWED:
                outcome.left_out.append(f"{name}: {flawed} flawed functions")
                continue
            outcome.subtasks += 1
            for function, reasons in zip(functions, answers, strict=True):
                accepted = not reasons
                if function.good:
                    outcome.good += 1
                    outcome.good_accepted += accepted
                else:
                    outcome.flawed += 1
                    outcome.flawed_accepted += accepted
                    outcome.flaws[function.name.split(":")[0].split(" parameter ")[0]] += 1
                if accepted is not function.good:
                    outcome.mistakes.append(
                        f"{name}: {function.name}: {'accepted' if accepted else reasons}\n{function.source}"
                    )
    outcome.seconds = time.perf_counter() - started
    return outcome


def figures(quick: bool = False) -> list[Figure]:
    """Precision and recall, over the simulated applications only when `quick`."""
    recordings = [*simulated_recordings(), *([] if quick else stored_recordings())]
    with EvaluationSandbox() as sandbox:
        outcome = judge(recordings, sandbox)
    for mistake in (*outcome.left_out, *outcome.mistakes):
        print(mistake)
    note = f"{outcome.good} good and {outcome.flawed} flawed functions over {outcome.subtasks} subtasks"
    return [
        Figure(
            "labelled subtasks", outcome.subtasks, "subtasks", "40 or more", outcome.subtasks >= 40 or quick
        ),
        Figure(
            "good functions accepted",
            outcome.recall,
            "share",
            "0.98 or more",
            outcome.recall >= 0.98,
            note=note,
        ),
        Figure(
            "flawed functions accepted",
            outcome.flawed_accepted,
            "functions",
            "0",
            not outcome.flawed_accepted,
            note=note,
        ),
        Figure(
            "precision of acceptance", outcome.precision, "share", "1", outcome.precision == 1.0, note=note
        ),
        Figure(
            "functions examined a second",
            (outcome.good + outcome.flawed) / outcome.seconds,
            "1/s",
        ),
    ]


def _accepted(
    item: RecordedSubtask,
    functions: Sequence[Labelled],
    recordings: Sequence[RecordedSubtask],
    sandbox: EvaluationSandbox,
    mutate: bool,
) -> list[tuple[str, ...]]:
    subtask, positive = item.subtask, item.trajectories[0]
    others = [other.trajectories[0] for other in recordings if other is not item]
    negatives = build_negatives(
        positive,
        instance=subtask.bind(positive.parameters, load_resource_categories()),
        other_parameter_sets=subtask.available_parameters,
        other_trajectories=(*item.trajectories[1:], *others),
        fresh=subtask.fresh,
    )
    thresholds = NegativeThresholds()

    def reasons(source: str, *, with_mutants: bool) -> tuple[str, ...]:
        return unacceptable(examine(source, positive, negatives, sandbox, mutate=with_mutants), thresholds)

    found = [reasons(function.source, with_mutants=False) for function in functions]
    if not mutate:
        return found
    return [
        reason or reasons(function.source, with_mutants=True)
        for function, reason in zip(functions, found, strict=True)
    ]
