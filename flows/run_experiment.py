"""Measures agents on tasks of the warehouse: an experiment, from its file to its figures (section 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import prefect
from prefect.context import FlowRunContext

from taskloom.flows import steps
from taskloom.flows.errors import CommandError
from taskloom.flows.experimenting.checking import check_experiment, experiment_of
from taskloom.flows.experimenting.derived_tasks import with_derived_tasks
from taskloom.flows.experimenting.finishing import ExperimentReport, write_report
from taskloom.flows.experimenting.fixing import FixedExperiment, fix
from taskloom.flows.hosting import Work, begin, publish_table, timed
from taskloom.flows.running.together import together
from taskloom.flows.settings import Settings, settings_of
from taskloom.flows.stages.agent_evaluation import EVALUATION
from taskloom.flows.stages.agents import asks_a_model
from taskloom.flows.steps import as_opaque
from taskloom.flows.wiring import Run
from taskloom.model_clients.errors import BudgetExhaustedError
from taskloom.omnieval.experiments import AgentOrder, ExperimentFile, PlannedAttempt, attempts_for, order_for
from taskloom.resources.errors import ExitCode
from taskloom.taskgraph.records.agent_run import ExperimentStatus
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Task

_VALID = "SELECT agent_run_id FROM agent_runs WHERE experiment_id = ? AND ended <> 'invalid'"


@prefect.flow(name="run_experiment", validate_parameters=False)
async def run_experiment(
    experiment: ExperimentFile | Mapping[str, object],
    settings_file: str = "",
    settings: Settings | None = None,
    quiet: bool = True,
) -> ExperimentReport:
    """Make the attempts of `experiment` that are not stored, and write its figures.

    It may be stopped at any time: finished attempts are kept, except those of the last seconds before a kill,
    and the same experiment continues from there. `run_experiment.fn` does so without Prefect or a server.

    Args:
        experiment: agents, tasks, repeats and limits; a mapping as in its file.
        settings_file, settings, quiet: as those of `build_dataset`.

    Raises:
        CommandError: there is no such agent or task, or the run is out of time.
    """
    if not isinstance(experiment, ExperimentFile):
        experiment = experiment_of(experiment, "the experiment")
    chosen = settings_of(settings, settings_file)
    check_experiment(experiment, chosen)
    async with begin(chosen, "run_experiment", quiet=quiet) as work:
        run = work.run
        fixed = await asyncio.to_thread(fix, run, experiment)
        work.making.verified.update(fixed.verified)
        if not fixed.known:
            fixed = await with_derived_tasks(run, experiment, fixed)
        by_agent = _planned_attempts(run, experiment, fixed)
        wanted = sum(len(planned) for _, planned in by_agent)
        stored = {str(row[0]) for row in run.warehouse.query(_VALID, [fixed.record.experiment_id]).rows()}
        record = fixed.record.model_copy(update={"attempts": wanted, "status": "running"})
        await asyncio.to_thread(run.warehouse.write, [record], True)
        missing = [
            (order, [item for item in planned if item[0].attempt_id not in stored])
            for order, planned in by_agent
        ]
        run.progress.begin(EVALUATION, sum(len(planned) for _, planned in missing))
        status: ExperimentStatus = "interrupted"
        try:
            with timed(run, EVALUATION):
                await _attempt(work, experiment, fixed, missing)
            status = "completed"
        except BudgetExhaustedError:
            status = "budget_exhausted"
            raise
        except TimeoutError:
            raise CommandError(
                f"the time of the run, {experiment.limits.run_seconds:g} s, is over; finished attempts are"
                " kept, and the same command continues",
                exit_code=ExitCode.BUDGET_EXHAUSTED,
            ) from None
        finally:
            run.progress.end(EVALUATION)
            await run.recorder.flush()
            final = record.model_copy(update={"status": status})
            report = await asyncio.to_thread(write_report, run.warehouse, final, fixed.left_out)
        report = report.model_copy(update={"run_id": run.run_id})
        if FlowRunContext.get() is not None:
            await publish_table(f"{record.name}, run {run.run_id}", report.standings)
        return report


def _planned_attempts(
    run: Run, experiment: ExperimentFile, fixed: FixedExperiment
) -> list[tuple[AgentOrder, list[tuple[PlannedAttempt, Task]]]]:
    tasks = {task.task_id: task for task in fixed.tasks}
    by_agent = []
    for entry in experiment.agents:
        order = order_for(experiment, fixed.record.experiment_id, entry, fixed.tasks)
        if entry.model is None and asks_a_model(entry.agent):
            model = run.settings.models.role(ModelRole.ACTOR).model
            order = order.model_copy(update={"provider": model.provider, "model": model.model})
        planned = attempts_for(experiment, fixed.record.experiment_id, entry, fixed.tasks)
        by_agent.append((order, [(item, tasks[item.task_id]) for item in planned]))
    return by_agent


async def _attempt(
    work: Work,
    experiment: ExperimentFile,
    fixed: FixedExperiment,
    missing: Sequence[tuple[AgentOrder, Sequence[tuple[PlannedAttempt, Task]]]],
) -> None:
    """Let all agents make their missing attempts, as many at a time as there are environments."""
    async with asyncio.timeout(experiment.limits.run_seconds or None):
        step = steps.evaluate if FlowRunContext.get() is not None else steps.evaluate.fn
        await together(
            step(work.run.run_id, as_opaque(order), as_opaque(planned), as_opaque(fixed.function_hashes))
            for order, planned in missing
            if planned
        )
