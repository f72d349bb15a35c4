"""OSWorld: `examples/<domain>/<id>.json`. A task is one subtask: OSWorld knows no graph.

Ids repeat between domains, so a task's id here is `osworld:<domain>/<id>`. `evaluator.func` may be one metric or a
list with parallel lists of results and expectations. A task whose metric is `infeasible` is kept and marked so in
`imported_items`. Unknown fields are kept there too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from resources.record import Record
from taskgraph.records.subtask import BoundSubtask
from warehouse.errors import ImportRefusedError
from warehouse.exporting.application_aliases import canonical_application
from warehouse.importing.import_fields import Fields, json_files, kind_of, read_object
from warehouse.importing.imported_tasks import build_task
from warehouse.records import ImportedItem

_INDEX_FILES = frozenset(
    {"manifest.json", "test_all.json", "test_small.json", "test_infeasible.json", "test_nogdrive.json"}
)


def read(path: Path) -> Iterator[Record]:
    """The records of a file, of a domain's folder, or of the whole collection.

    Raises:
        ImportRefusedError: a file that breaks the format; nothing of it may be stored.
    """
    root = path if path.is_dir() else path.parent
    seen: dict[str, str] = {}
    for file in json_files(path):
        if file.name in _INDEX_FILES:
            continue
        shown = file.relative_to(root).as_posix()
        fields = read_object(file, shown)
        domain = file.parent.name
        task_id = f"osworld:{domain}/{fields.text('id')}"
        if task_id in seen:
            raise fields.refused("id", f"stands in {seen[task_id]} too")
        seen[task_id] = shown
        yield from _records(fields, task_id, f"{domain}/{file.name}")


def _records(fields: Fields, task_id: str, place: str) -> Iterator[Record]:
    instruction = fields.text("instruction")
    applications = fields.texts("related_apps")
    for position, step in enumerate(fields.each("config")):
        step.text("type")
        if "parameters" in step.values and not isinstance(step.values["parameters"], dict):
            raise fields.refused(f"config[{position}].parameters", "must be an object")
    infeasible = _check_evaluator(fields.fields("evaluator"))
    for name in ("proxy", "fixed_ip"):
        value = fields.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise fields.refused(name, f"must be true or false, not {kind_of(value)}")
    change = fields.optional_text("possibility_of_env_change", "low")
    if change not in ("low", "medium", "high"):
        raise fields.refused("possibility_of_env_change", f"must be low, medium or high, not {change!r}")
    name, category = canonical_application(applications[0]) if applications else ("os", "System Management")
    node = BoundSubtask(
        instance_id=task_id,
        subtask_id=task_id,
        application=name,
        application_category=category,
        instruction=instruction,
    )

    def refused(reason: str) -> ImportRefusedError:
        return fields.refused("instruction", reason)

    yield build_task(task_id, [node], [], instruction, refused)
    yield ImportedItem(
        item_id=task_id,
        format="osworld",
        item_kind="task",
        place=place,
        infeasible=infeasible,
        content=dict(fields.values),
    )


def _check_evaluator(evaluator: Fields) -> bool:
    """Check the structure; whether the task is infeasible."""
    func = evaluator.values.get("func")
    if isinstance(func, str):
        if not func:
            raise evaluator.refused("func", "must not be empty")
        if func == "infeasible":
            return True
        for name in ("result", "expected"):
            value = evaluator.values.get(name)
            if isinstance(value, list) and value:
                raise evaluator.refused(name, "is a list, but func names one metric")
            if value is not None and value != [] and not isinstance(value, dict):
                raise evaluator.refused(name, f"must be an object, not {kind_of(value)}")
        return False
    names = evaluator.texts("func")
    if not names:
        raise evaluator.refused("func", "must name a metric")
    conj = evaluator.optional_text("conj", "and")
    if conj not in ("and", "or"):
        raise evaluator.refused("conj", f"must be and or or, not {conj!r}")
    for name in ("result", "expected", "options"):
        value = evaluator.values.get(name)
        if value is None or value in ({}, []):
            continue
        if not isinstance(value, list):
            raise evaluator.refused(name, f"must be a list like func, not {kind_of(value)}")
        if len(value) != len(names):
            raise evaluator.refused(name, f"has {len(value)} entries, but func names {len(names)} metrics")
        for position, item in enumerate(value):
            if item is not None and not isinstance(item, dict):
                raise evaluator.refused(f"{name}[{position}]", f"must be an object, not {kind_of(item)}")
    return names == ["infeasible"]
