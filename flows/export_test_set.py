"""A test set out of the warehouse as a scheduled flow: replay what is to be exported, then export it.

Every task of a test set is replayed (method section 8): one that works in no order is rejected instead of exported.
"""

from __future__ import annotations

from pathlib import Path

import prefect

from flows import steps
from flows.running.current import timed, working_for
from flows.settings import Settings, load_settings
from flows.wiring import open_run
from taskgraph.records.task import Task
from warehouse.exporting.exporting import ExportOptions, Manifest, export
from warehouse.sets.selection import Selection, select


@prefect.flow(name="export_test_set", validate_parameters=False)
async def export_test_set(
    folder: str,
    format_name: str = "omnibench",
    selection: Selection | None = None,
    options: ExportOptions | None = None,
    settings_file: str = "",
    settings: Settings | None = None,
    quiet: bool = True,
) -> Manifest:
    """Replay the selected tasks that were not replayed yet, and export those that work.

    Args:
        folder: folder to write, which must not exist yet.
        format_name: export format.
        selection: which tasks; all validated ones by default.
        options: how the format writes.
        settings_file: settings of a scheduled run; ignored where `settings` are given.
        settings: settings of a run started from Python.
        quiet: no progress on standard error.

    Raises:
        ExportRefusedError: nothing is selected, or the folder cannot be written; nothing is left behind.
    """
    chosen = settings or load_settings(Path(settings_file) if settings_file else None)
    wanted = selection or Selection()
    async with open_run(chosen, "export_test_set", quiet=quiet) as run:
        with working_for(run) as work:
            work.growth.verified.update(work.growth.known)
            names = list(select(run.warehouse, wanted).task_ids)
            done = {str(row[0]) for row in run.warehouse.query("SELECT DISTINCT task_id FROM replays").rows()}
            work.making.chosen[0] = [
                task
                for task in run.warehouse.read(Task, "task_id IN (SELECT unnest(?::VARCHAR[]))", [names])
                if task.task_id not in done and work.making.can_replay(task)
            ]
            with timed(run, "replay"):
                await steps.replay(0)
            await run.recorder.flush()
            return export(run.warehouse, format_name, Path(folder), wanted, options)
