"""Exports a test set after replaying all of its tasks (method section 8); failing tasks are left out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import prefect

from taskloom.evaluators_api.checks.declaration import check_facts
from taskloom.flows import steps
from taskloom.flows.errors import CommandError
from taskloom.flows.hosting import Work, begin, timed
from taskloom.flows.pool import load_verified
from taskloom.flows.settings import Settings, settings_of
from taskloom.flows.stages.making import BATCH
from taskloom.flows.stages.replaying import REPLAY
from taskloom.flows.steps import as_opaque
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import MANIFEST, ExportOptions, Manifest, export
from taskloom.warehouse.sets.selection import Selection, SetRequest, select
from taskloom.warehouse.store import Warehouse


class ExportedTestSet(Record):
    """A test set that was exported."""

    manifest: Manifest
    """What was written."""
    replayed: int
    """Tasks that were replayed for it; the others had been replayed before."""
    rejected: int
    """How many of these worked in no order; they are now rejected and were not exported."""


@prefect.flow(name="export_test_set", validate_parameters=False)
async def export_test_set(
    folder: str,
    format_name: str = "omnibench",
    selection: Selection | None = None,
    options: ExportOptions | None = None,
    sets: SetRequest | None = None,
    named_lists: Mapping[str, Sequence[str]] | None = None,
    settings_file: str = "",
    settings: Settings | None = None,
    quiet: bool = True,
) -> ExportedTestSet:
    """Replay the selected tasks that have not been replayed yet, and export those that work.

    If a size is given, tasks that do not work are replaced by others, which are replayed as well.

    Args:
        folder: folder to write; it must not exist yet. `{version}` in it is replaced by the name of the
            newest version, and a version whose folder already exists is not exported again, which suits
            scheduled runs.
        format_name: export format.
        selection: which tasks; all validated ones by default.
        options: options of the format.
        sets: how the tasks are divided into sets.
        named_lists: texts by the name of their list; tasks that resemble one of them are left out.
        settings_file, settings, quiet: as those of `build_dataset`.

    Raises:
        CommandError: a selected task needs a subtask that is not verified for the applications installed
            here.
        ExportRefusedError: nothing is selected, or the folder cannot be written; nothing is left behind.
    """
    chosen = selection or Selection()
    async with begin(settings_of(settings, settings_file), "export_test_set", quiet=quiet) as work:
        run = work.run
        target = Path(_with_version(folder, run.warehouse))
        if target != Path(folder) and (target / MANIFEST).is_file():
            existing = Manifest.model_validate_json((target / MANIFEST).read_text(encoding="utf-8"))
            return ExportedTestSet(manifest=existing, replayed=0, rejected=0)
        work.making.verified.update(load_verified(run.warehouse, run.applications))
        tried: set[str] = set()
        rejected = 0
        with timed(run, REPLAY):
            while tasks := _not_replayed(work, chosen, tried):
                for start in range(0, len(tasks), BATCH):
                    batch = tasks[start : start + BATCH]
                    rejected += await steps.replay(run.run_id, start // BATCH, as_opaque(batch))
                tried.update(task.task_id for task in tasks)
                await run.recorder.flush()
        run.progress.end(REPLAY)
        manifest = await asyncio.to_thread(
            export,
            run.warehouse,
            format_name,
            target,
            chosen,
            options,
            sets=sets,
            named_lists=named_lists,
            checks=check_facts(),
        )
    return ExportedTestSet(manifest=manifest, replayed=len(tried), rejected=rejected)


def _with_version(folder: str, warehouse: Warehouse) -> str:
    if "{version}" not in folder:
        return folder
    versions = warehouse.versions()
    if not versions:
        raise CommandError(f"{folder} names the version, but none is published yet; run: taskloom build")
    return folder.replace("{version}", versions[-1].name)


def _not_replayed(work: Work, chosen: Selection, tried: set[str]) -> list[Task]:
    """The selected tasks that taskloom made and no run has replayed, except those in `tried`."""
    warehouse = work.run.warehouse
    names = [name for name in select(warehouse, chosen) if name not in tried]
    condition = (
        "status = 'validated' AND task_id IN (SELECT unnest(?::VARCHAR[]))"
        " AND task_id NOT IN (SELECT task_id FROM replays)"
    )
    return list(warehouse.read(Task, condition, [names], order_by="task_id"))
