"""What can be said of an instruction without a model: its values are all there, and none that nobody uses."""

from __future__ import annotations

import re
from collections.abc import Mapping

from taskgraph.records.task import Task

_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{2,}?)'(?!\w)|\"([^\"\n]{2,}?)\"|“([^”\n]{2,}?)”|`([^`\n]{2,}?)`")
_PATH = re.compile(r"(?<![\w/])[\w-]+(?:/[\w-]+)*/[\w-]+\.\w{1,10}")


def literal_problems(task: Task, instruction: str, titles: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with the values in `instruction`: missing ones, placeholders left, names that no node uses."""
    if not instruction.strip():
        return ("the instruction is empty",)
    text = _plain(instruction)
    problems = []
    for node in task.graph.nodes:
        for name, value in sorted(node.parameters.items()):
            if _plain(value) not in text:
                problems.append(f"the value {value!r} ({name} of “{node.instruction}”) is missing")
    known = _known(task, titles)
    rest = text
    for value in sorted(
        {_plain(item) for node in task.graph.nodes for item in node.parameters.values()}, key=len
    ):
        rest = rest.replace(value, " ")
    problems += [f"the placeholder {found} is left" for found in sorted(set(_PLACEHOLDER.findall(rest)))]
    for match in _QUOTED.finditer(text):
        quoted = next(group for group in match.groups() if group)
        if quoted.strip() and quoted not in known:
            problems.append(f"it names {quoted!r}, which no subtask does")
    for match in _PATH.finditer(text):
        if match.group() not in known:
            problems.append(f"it names the path {match.group()!r}, which no subtask uses")
    return tuple(dict.fromkeys(problems))


def _known(task: Task, titles: Mapping[str, str]) -> str:
    parts = [task.intent, *titles.values()]
    for node in task.graph.nodes:
        parts += [node.instruction, *node.parameters.values()]
        parts += [item.value for item in (*node.inputs, *node.outputs)]
    parts += [edge.resource.value for edge in task.graph.edges]
    return "\n".join(_plain(part) for part in parts)


def _plain(text: str) -> str:
    return " ".join(text.split())
