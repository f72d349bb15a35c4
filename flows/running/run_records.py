"""The record of a run: started, resumed by a run with equal settings, and ended."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from importlib.metadata import version as distribution_version

from pydantic import JsonValue

from taskloom.flows.running.clock import now
from taskloom.flows.settings import Settings
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse

PLACE_ONLY = frozenset({"environments", "browser", "data", "fan_out"})
"""Settings that say where and how fast a run works."""
CALLS_ONLY = frozenset({"budget", "batch", "retries"})
"""Settings of `models` that determine how calls are answered and what they may cost."""


def begin(warehouse: Warehouse, settings: Settings, flow: str) -> RunRecord:
    """The stored record of a new run, or of an unfinished one with equal settings, which is resumed."""
    content: dict[str, JsonValue] = json.loads(settings.model_dump_json())
    for record in warehouse.read(RunRecord, "flow = ? AND status <> 'completed'", [flow]):
        if identity(record.settings) == identity(content):
            resumed = record.model_copy(
                update={"status": "running", "finished_at": "", "message": "", "settings": content}
            )
            warehouse.write([resumed], replace=True)
            return resumed
    record = RunRecord(
        run_id=f"{now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}",
        flow=flow,
        started_at=_now(),
        seed=settings.seed,
        settings=content,
        software_version=distribution_version("taskloom"),
    )
    warehouse.write([record])
    return record


def identity(settings: Mapping[str, JsonValue]) -> str:
    """What two runs must have in common for one to resume the other; budgets and retries do not count."""
    models = settings.get("models")
    if isinstance(models, dict):
        models = {name: value for name, value in models.items() if name not in CALLS_ONLY}
    content = {name: value for name, value in settings.items() if name not in PLACE_ONLY | {"models"}}
    return json.dumps([content, models], sort_keys=True)


def ended(
    record: RunRecord,
    status: str,
    message: str = "",
    *,
    stage_seconds: Mapping[str, float],
    core_seconds: Mapping[str, Mapping[str, float]],
) -> RunRecord:
    """The record of a run that ends now."""
    return RunRecord.model_validate(
        {
            **record.model_dump(),
            "status": status,
            "message": message,
            "finished_at": _now(),
            "stage_seconds": {name: round(value, 2) for name, value in stage_seconds.items()},
            "core_seconds": core_seconds,
        }
    )


def _now() -> str:
    return now().isoformat(timespec="seconds")
