"""Which applications a run explores, and why: a night only those that are new or changed."""

from __future__ import annotations

from taskloom.flows.nights.fingerprints import changes, fingerprint_of
from taskloom.flows.pool.pool_memory import wishes_of
from taskloom.flows.wiring import Run, catalogue
from taskloom.warehouse.night_records import ExplorationChoice
from taskloom.warehouse.store import Warehouse

STAGE = "exploration"


def choice_for(run: Run, name: str) -> ExplorationChoice:
    """Whether `run` explores the application `name`, and why; a run that is resumed stays with what it
    chose."""
    choice_id = f"{run.run_id}/{name}"
    made = list(run.warehouse.read(ExplorationChoice, "choice_id = ?", [choice_id]))
    if made:
        return made[0].model_copy(update={"complete": False})
    now = fingerprint_of(catalogue(run.settings)[name], run.settings, wishes_of(run.warehouse, run.run_id))
    explored, reason = True, "this run is no night, and explores every application"
    if run.settings.nights.enabled:
        explored, reason = night_choice(run.warehouse, name, now, run.run_id)
    return ExplorationChoice(
        choice_id=choice_id,
        application=name,
        explored=explored,
        reason=reason,
        fingerprint=now,
        provenance=run.provenance(STAGE),
    )


def night_choice(warehouse: Warehouse, name: str, now: dict[str, str], run_id: str = "") -> tuple[bool, str]:
    """Whether a night explores an application whose fingerprint is `now`, and why; the run `run_id` itself
    does not count."""
    earlier = list(
        warehouse.read(
            ExplorationChoice,
            "application = ? AND explored AND complete AND run_id <> ?",
            [name, run_id],
            order_by="run_id",
        )
    )
    if not earlier:
        return True, "it is new: no run has explored it to the end"
    last = earlier[-1]
    found = changes(last.fingerprint, now)
    since = last.provenance.run_id
    lost = warehouse.query(
        "SELECT count(*) FROM rechecks WHERE outcome = 'retired' AND starts_with(subtask_id, ?) AND"
        " run_id > ?",
        [f"{name}.", since],
    ).scalar()
    if lost:
        found.append(f"{lost} of its subtasks no longer replay")
    if found:
        return True, f"since run {since}: {', '.join(found)}"
    return False, f"nothing that it depends on changed since run {since}"
