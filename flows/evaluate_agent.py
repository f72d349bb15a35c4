"""An agent evaluated on tasks of the warehouse: coverage rate and logical consistency (section 4.1)."""

from __future__ import annotations

import prefect

from taskloom.flows import steps
from taskloom.flows.errors import CommandError
from taskloom.flows.hosting.contexts import begin, timed
from taskloom.flows.pool.known_pool import load_verified
from taskloom.flows.settings import Settings, settings_of
from taskloom.flows.shutting_in import refuse_unconfined
from taskloom.flows.stages.agent_evaluation import EVALUATION, AgentOrder, InstructionLevel
from taskloom.flows.steps import whole
from taskloom.flows.summaries.artifacts import publish_table
from taskloom.omnieval.reports.report_rows import ReportRow
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.sets.selection import Selection, select


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
    """Ids of selected tasks with subtasks that are not verified for the installed applications."""
    ungradable: int
    """Attempts in which some subtask's evaluation function accepted the state before the agent did
    anything."""
    invalid: int = 0
    """Attempts that neither passed nor failed: the start lacked something, or the environment failed."""
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
                f"In {self.ungradable} attempts some subtask counted as done before the agent began, and was"
                " not graded."
            )
        if self.invalid:
            lines.append(
                f"{self.invalid} attempts are invalid and count for nothing: the start was not what the task"
                " needs, or the environment failed."
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
    """Have `agent` attempt the selected tasks and score what it completed.

    Args:
        agent: `model`, `recorded`, or `module:factory`.
        selection: which tasks; all validated ones by default.
        instruction_level: which instructions the agent gets.
        patience: steps without a completed subtask after which a task fails (the paper's N).
        settings_file: settings file of a scheduled run.
        settings: settings of a run started from Python; a mapping overrides the file.
        quiet: no progress on standard error.

    Raises:
        CommandError: there is no such agent, or no task to attempt.
    """
    chosen = settings_of(settings, settings_file)
    refuse_unconfined(chosen, agent_acts=agent not in ("model", "recorded"))
    async with begin(chosen, "evaluate_agent", quiet=quiet) as work:
        run = work.run
        work.making.verified.update(load_verified(run.warehouse, run.applications))
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
                f"there is no task to attempt: {len(names)} are selected, and none of them has all its"
                " subtasks verified with the applications installed here; widen the selection, or run:"
                " taskloom build"
            )
        longest = max(len(task.graph.nodes) for task in ready)
        order = AgentOrder(
            level=instruction_level,
            step_limit=chosen.trajectories.step_limit * longest,
            patience=patience,
        )
        run.progress.begin(EVALUATION, len(ready))
        with timed(run, EVALUATION):
            results = await steps.evaluate(work.reference, agent, order, whole(ready))
        run.progress.end(EVALUATION)
        report = AgentReport(
            run_id=run.run_id,
            agent=agent,
            instruction_level=instruction_level,
            attempts=len(ready),
            left_out=tuple(task.task_id for task in tasks if task not in ready),
            ungradable=results.ungradable,
            invalid=results.invalid,
            rows=results.rows,
        )
        await publish_table(f"{agent} on {len(ready)} tasks, run {run.run_id}", "evaluation", report.rows)
        return report
