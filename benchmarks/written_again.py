"""Functions that the present offline writer writes for the recordings of a dataset, without performing
anything.

A change of the checks, the writer or the examination shows here first: its effect on recordings of real work,
subtask by subtask.

    python -m benchmarks.written_again --into FILE [--warehouse FOLDER] [SUBTASK …]

The file contains every accepted function; `benchmarks.labelled_work` and `benchmarks.state_sweep` judge with
it if given `--functions FILE`.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.function_files import write_functions
from benchmarks.labelled_performances import DATA
from benchmarks.labelled_work import PATIENT
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.examination import StoredFunction, stored_functions
from taskloom.offline.models import OfflineRules
from taskloom.prompts.prompt_input import PromptInput, Reply
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.synthesis.cross_verification.agreement import routes
from taskloom.synthesis.evaluation_functions.evaluation_functions import Criticism, write_evaluation_function
from taskloom.synthesis.examination.examination import build_cases, examine
from taskloom.synthesis.examination.subject import is_on_screen
from taskloom.synthesis.examination.verdict import Thresholds, feedback
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.warehouse.store import Warehouse

_TRIES = 6


@dataclass
class _Rules:
    """The offline rules without a ledger."""

    rules: OfflineRules = field(
        default_factory=lambda: OfflineRules(load_applications(), load_resource_categories())
    )

    async def ask(self, question: PromptInput[Reply], *, stage: str, item_id: str, attempt: int = 0) -> Any:
        """See `taskloom.prompts.prompt_input.Models.ask`."""
        return self.rules.answer(question, attempt)


def write_again(stored: StoredFunction, sandbox: EvaluationSandbox) -> tuple[EvaluationFunction | None, str]:
    """The function that is written and accepted now, or the reason why there is none."""
    subtask, own = stored.subtask, [stored.positive]
    own += [item for item in stored.others if item.subtask_id == stored.subtask.subtask_id]
    others = [item for item in stored.others if item.subtask_id != subtask.subtask_id]
    instance = subtask.bind(stored.positive.parameters, load_resource_categories())
    cases = build_cases(
        stored.positive,
        instance=instance,
        other_parameter_sets=subtask.available_parameters,
        other_trajectories=[*own[1:], *others],
    )
    criticism: Criticism | None = None
    sources: set[str] = set()
    reason = "nothing was written"
    for attempt in range(_TRIES):
        function = asyncio.run(
            write_evaluation_function(
                subtask,
                load_applications()[subtask.application],
                own,
                models=_Rules(),
                result_on_screen=is_on_screen(instance),
                criticism=criticism,
                attempt=attempt,
                provenance=Provenance(),
            )
        )
        if function.source in sources:
            break
        sources.add(function.source)
        quality = examine(function.source, stored.positive, cases, sandbox, routes=len(routes(own)))
        reason = feedback(quality, Thresholds())
        if not reason:
            return function.model_copy(update={"quality": quality}), ""
        criticism = Criticism(function.source, (reason,), quality)
    return None, f"{reason}\n{sorted(sources)[-1] if sources else ''}"


def _write_for_subtask(location: Path, subtask_id: str) -> tuple[EvaluationFunction | None, str]:
    with Warehouse(location, read_only=True) as warehouse:
        stored = list(stored_functions(warehouse, subtask_id))
    if not stored:
        return None, "no recordings"
    with EvaluationSandbox(PATIENT) as sandbox:
        return write_again(stored[0], sandbox)


def subtasks_of(location: Path, parts: Sequence[str] = ()) -> list[str]:
    """Ids of subtasks with an accepted function in the warehouse at `location`, restricted to those that
    begin with one of `parts`."""
    with Warehouse(location, read_only=True) as warehouse:
        names = {item.subtask_id for item in warehouse.read(EvaluationFunction, "accepted")}
    return sorted(name for name in names if not parts or any(name.startswith(part) for part in parts))


def main() -> None:
    """Write functions for the subtasks named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.written_again", description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--warehouse", type=Path, default=DATA / "warehouse")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=2)
    arguments = parser.parse_args()
    accepted: list[EvaluationFunction] = []
    with ProcessPoolExecutor(arguments.at_once) as pool:
        names = subtasks_of(arguments.warehouse, arguments.parts)
        work = {pool.submit(_write_for_subtask, arguments.warehouse, name): name for name in names}
        for done in as_completed(work):
            function, reason = done.result()
            print(f"{work[done]}: {'accepted' if function else f'REFUSED: {reason}'}", flush=True)
            accepted += [function] if function else []
    write_functions(arguments.into, accepted)
    print(f"{len(accepted)} of {len(names)} accepted")


if __name__ == "__main__":
    main()
