"""OSWorld: `examples/<domain>/<id>.json` per task, and `test_all.json` with the ids of every domain.

A task goes out when every subtask's evaluation function can be said with OSWorld's getters and metrics; the others are
refused with the reason. Tasks that were imported from OSWorld go out as they came in.
"""

from __future__ import annotations

import base64
import uuid
from collections import defaultdict
from pathlib import Path

from resources.applications import Application
from resources.assets import content_of
from taskgraph.task import Task
from warehouse.errors import ExportRefused
from warehouse.exporting import ExportOptions, ExportOutcome, ExportSource, Refused, write_json
from warehouse.file_names import safe_name
from warehouse.osworld_conditions import Condition, Inexpressible, conditions_of

_NAMESPACE = uuid.UUID("6f7c2f0c-2f5f-5d3e-9a55-0d7c2a6f1b11")
_HOME = "/home/user"
_PORT = 8800


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write every task that can be expressed."""
    listed: dict[str, list[str]] = defaultdict(list)
    refused: list[Refused] = []
    for task in source.tasks():
        original = source.imported.get(task.task_id)
        if original is not None and original.format == "osworld" and isinstance(original.content, dict):
            domain = Path(original.place).parent.name
            fields: dict[str, object] = {**original.content}
        else:
            try:
                domain, fields = _domain(task), _fields(task, source)
            except Inexpressible as error:
                refused.append(Refused(item_id=task.task_id, reason=str(error)))
                continue
        write_json(folder / "examples" / domain / f"{safe_name(str(fields['id']))}.json", fields)
        listed[domain].append(str(fields["id"]))
    if not listed:
        raise ExportRefused(
            f"OSWorld can express none of the {len(refused)} selected tasks; the first: {refused[0].item_id}:"
            f" {refused[0].reason}."
        )
    write_json(folder / "test_all.json", {domain: sorted(ids) for domain, ids in sorted(listed.items())})
    return ExportOutcome(
        counts={"tasks": sum(len(ids) for ids in listed.values())},
        refused=tuple(refused),
        notes=(
            "Launching assumes a machine image in which the applications are installed under /home/user/applications.",
        ),
    )


def _fields(task: Task, source: ExportSource) -> dict[str, object]:
    if task.simulated:
        raise Inexpressible("it runs on simulated applications")
    conditions: list[Condition] = []
    for node in task.graph.nodes:
        function = source.functions.get(node.subtask_id)
        if function is None:
            raise Inexpressible(f"{node.subtask_id} has no evaluation function")
        conditions += conditions_of(function.source, node.parameters)
    names = sorted({node.application for node in task.graph.nodes})
    config: list[dict[str, object]] = []
    for position, name in enumerate(names):
        application = source.applications.get(name)
        if application is None:
            raise Inexpressible(f"the application {name} is not stored")
        config += _setup(application, _PORT + position)
    config.append(
        {
            "type": "chrome_open_tabs",
            "parameters": {
                "urls_to_open": [f"http://localhost:{_PORT + position}" for position in range(len(names))]
            },
        }
    )
    single = len(conditions) == 1
    return {
        "id": str(uuid.uuid5(_NAMESPACE, task.task_id)),
        "snapshot": names[0],
        "instruction": task.instruction,
        "source": f"taskloom:{task.task_id}",
        "config": config,
        "trajectory": "trajectories/",
        "related_apps": names,
        "evaluator": {
            "func": conditions[0].func if single else [item.func for item in conditions],
            **({} if single else {"conj": "and"}),
            "result": conditions[0].result if single else [item.result for item in conditions],
            "expected": conditions[0].expected if single else [item.expected for item in conditions],
            "options": {} if single else [{} for _ in conditions],
        },
        "proxy": False,
        "fixed_ip": False,
        "possibility_of_env_change": "low",
    }


def _domain(task: Task) -> str:
    names = {node.application for node in task.graph.nodes}
    return next(iter(names)) if len(names) == 1 else "multi_apps"


def _setup(application: Application, port: int) -> list[dict[str, object]]:
    """Write the fixtures, then start the application."""
    steps: list[dict[str, object]] = []
    for fixture in application.fixtures:
        if not fixture.content:
            continue
        encoded = base64.b64encode(content_of(fixture.content, application)).decode()
        code = (
            f"import base64, pathlib; p = pathlib.Path({f'{_HOME}/{fixture.value}'!r});"
            f" p.parent.mkdir(parents=True, exist_ok=True); p.write_bytes(base64.b64decode({encoded!r}))"
        )
        steps.append({"type": "execute", "parameters": {"command": ["python3", "-c", code]}})
    places = {
        "install": f"{_HOME}/applications/{application.name}",
        "venv": f"{_HOME}/applications/{application.name}/venv",
        "node": "node",
        "home": _HOME,
        "state": f"{_HOME}/state/{application.name}",
        "port": str(port),
    }
    command = [_filled(part, places) for part in application.launch.command] or [
        "python3",
        "-m",
        "http.server",
        str(port),
        "--directory",
        _filled(application.launch.serve, places),
    ]
    steps.append({"type": "launch", "parameters": {"command": command}})
    return steps


def _filled(text: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", value)
    return text
