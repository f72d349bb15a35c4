"""A project of Planner as JSON: what people plan, and nothing that follows from it or the program chooses."""

from __future__ import annotations

import json
from xml.etree import ElementTree

_SECONDS_OF_AN_HOUR = 3600
_TOLD = ("note", "priority")
"""What is told of a task where it is not what every new task has."""


def render_project(root: ElementTree.Element) -> str | None:
    """Name, company and manager of the project; its tasks in their order with their work in hours and how
    many percent are complete, each with the names of those it waits for and of the task that it is a part of;
    its resources. None for a project of another program.

    Calendars, numbers of records and the dates that follow from all this are left out.
    """
    if not root.get("mrproject-version"):
        return None
    names = {task.get("id", ""): task.get("name", "") for task in root.iter("task")}
    told = {
        "project": {name: root.get(name, "") for name in ("name", "company", "manager")},
        "tasks": [
            _task(task, names, above)
            for above in (*root.iter("tasks"), *root.iter("task"))
            for task in above.findall("task")
        ],
        "resources": [
            {name: value for name in ("name", "email", "note") if (value := item.get(name))}
            for item in root.iter("resource")
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


def _task(task: ElementTree.Element, names: dict[str, str], above: ElementTree.Element) -> dict[str, object]:
    try:
        hours = f"{int(task.get('work', '0')) / _SECONDS_OF_AN_HOUR:g}"
    except (ValueError, OverflowError):
        hours = ""
    complete = task.get("percent-complete", "0")
    found: dict[str, object] = {"name": task.get("name", ""), "hours": hours, "complete": complete}
    found |= {name: value for name in _TOLD if (value := task.get(name, "")) not in ("", "0")}
    if above.tag == "task":
        found["part of"] = above.get("name", "")
    waits = [
        names.get(item.get("predecessor-id", ""), "") for item in task.findall("predecessors/predecessor")
    ]
    return {**found, "after": waits} if waits else found
