"""Which applications a run explores, and why: a night only those that are new or changed."""

from __future__ import annotations

from flows.nights.fingerprints import changes, fingerprint_of
from flows.pool.pool_memory import wishes_of
from flows.wiring import Run, catalogue
from warehouse.night_records import ExplorationChoice

STAGE = "exploration"


def choice_for(run: Run, name: str) -> ExplorationChoice:
    """Whether `run` explores the application `name`, and why; a run that is resumed stays with what it chose."""
    choice_id = f"{run.run_id}/{name}"
    made = list(run.warehouse.read(ExplorationChoice, "choice_id = ?", [choice_id]))
    if made:
        return made[0].model_copy(update={"complete": False})
    now = fingerprint_of(catalogue(run.settings)[name], run.settings, wishes_of(run.warehouse, run.run_id))
    explored, reason = True, "this run is no night, and explores every application"
    if run.settings.nights.enabled:
        explored, reason = _night_choice(run, name, now)
    return ExplorationChoice(
        choice_id=choice_id,
        application=name,
        explored=explored,
        reason=reason,
        fingerprint=now,
        provenance=run.provenance(STAGE),
    )


def _night_choice(run: Run, name: str, now: dict[str, str]) -> tuple[bool, str]:
    earlier = list(
        run.warehouse.read(
            ExplorationChoice,
            "application = ? AND explored AND complete AND run_id <> ?",
            [name, run.run_id],
            order_by="run_id",
        )
    )
    if not earlier:
        return True, "it is new: no run has explored it to the end"
    last = earlier[-1]
    found = changes(last.fingerprint, now)
    since = last.provenance.run_id
    lost = run.warehouse.query(
        "SELECT count(*) FROM rechecks WHERE outcome = 'retired' AND starts_with(subtask_id, ?) AND run_id > ?",
        [f"{name}.", since],
    ).scalar()
    if lost:
        found.append(f"{lost} of its subtasks no longer replay")
    if found:
        return True, f"since run {since}: {', '.join(found)}"
    return False, f"nothing that it depends on changed since run {since}"
