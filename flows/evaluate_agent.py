"""An agent evaluated on tasks of the warehouse: coverage rate and logical consistency (section 4.1)."""

from __future__ import annotations

from pathlib import Path

import prefect

from flows import steps
from flows.errors import CommandError
from flows.running.current import timed, working_for
from flows.settings import Settings, load_settings
from flows.stages.agent_evaluation import EVALUATION, AgentEvaluation, InstructionLevel
from flows.stages.agents import agent_maker
from flows.wiring import open_run
from omnieval.reports import ReportRow
from resources.record import Record
from taskgraph.records.task import Task
from warehouse.sets.selection import Selection, select


class AgentReport(Record):
    """How an agent did."""

    run_id: str
    """The run."""
    agent: str
    """The agent."""
    instruction_level: InstructionLevel
    """Which instructions it was given."""
    attempts: int
    """Tasks attempted."""
    left_out: tuple[str, ...]
    """Ids of selected tasks whose subtasks are not all verified with the installed applications."""
    ungradable: int
    """Attempts in which the evaluation function of some subtask accepted before the agent did anything."""
    invalid: int = 0
    """Attempts that are neither passed nor failed: the start was not what the task needs, or the environment failed."""
    rows: tuple[ReportRow, ...]
    """Results, over all, per capability and per level of each dimension."""

    @property
    def remarks(self) -> list[str]:
        """What to know beside the figures."""
        lines = [f"Every attempt: taskloom sql agent_runs --param run={self.run_id}"]
        if self.left_out:
            lines.append(
                f"{len(self.left_out)} selected tasks were left out: not every subtask of theirs is verified"
                " with the applications installed here."
            )
        if self.ungradable:
            lines.append(
                f"In {self.ungradable} attempts some subtask counted as done before the agent began, and was not graded."
            )
        if self.invalid:
            lines.append(
                f"{self.invalid} attempts are invalid and count for nothing: the start was not what the task needs, or the"
                " environment failed."
            )
        return lines


@prefect.flow(name="evaluate_agent", validate_parameters=False)
async def evaluate_agent(
    agent: str,
    selection: Selection | None = None,
    instruction_level: InstructionLevel = "high",
    patience: int = 20,
    settings_file: str = "",
    settings: Settings | None = None,
    quiet: bool = True,
) -> AgentReport:
    """Let `agent` attempt the selected tasks and score what it completed.

    Args:
        agent: `model`, `recorded`, or `module:factory`.
        selection: which tasks; all validated ones by default.
        instruction_level: which instructions the agent is given.
        patience: steps without any completion after which a task has failed (the paper's N).
        settings_file: settings of a scheduled run; ignored where `settings` are given.
        settings: settings of a run started from Python or the command line.
        quiet: no progress on standard error.

    Raises:
        CommandError: there is no such agent, or no task to attempt.
    """
    chosen = settings or load_settings(Path(settings_file) if settings_file else None)
    async with open_run(chosen, "evaluate_agent", quiet=quiet) as run:
        with working_for(run) as work:
            verified = work.growth.known
            work.growth.verified.update(verified)
            names = list(select(run.warehouse, selection or Selection()).task_ids)
            tasks = [
                task
                for task in run.warehouse.read(Task, "task_id IN (SELECT unnest(?::VARCHAR[]))", [names])
                if task.status == "validated"
            ]
            tasks.sort(key=lambda task: names.index(task.task_id))
            ready = [task for task in tasks if work.making.can_replay(task)]
            if not ready:
                raise CommandError(
                    f"there is no task to attempt: {len(names)} are selected, and of none are all subtasks verified"
                    " with the applications installed here; widen the selection, or run: taskloom build"
                )
            longest = max(len(task.graph.nodes) for task in ready)
            step_limit = chosen.trajectories.step_limit * longest
            work.evaluation = AgentEvaluation(
                run=run,
                agent=agent,
                make=agent_maker(agent, run, verified, step_limit),
                verified=verified,
                level=instruction_level,
                step_limit=step_limit,
                patience=patience,
                tasks=ready,
            )
            run.progress.begin(EVALUATION, len(ready))
            with timed(run, EVALUATION):
                await steps.evaluate()
            run.progress.end(EVALUATION)
            await run.recorder.flush()
            return AgentReport(
                run_id=run.run_id,
                agent=agent,
                instruction_level=instruction_level,
                attempts=len(ready),
                left_out=tuple(task.task_id for task in tasks if task not in ready),
                ungradable=work.evaluation.ungradable,
                invalid=work.evaluation.invalid,
                rows=work.evaluation.rows(),
            )
