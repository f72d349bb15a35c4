"""What can be said of an instruction or a goal without a model: its values are all there, and none that
nobody uses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task

_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{2,}?)'(?!\w)|\"([^\"\n]{2,}?)\"|“([^”\n]{2,}?)”|`([^`\n]{2,}?)`")
_PATH = re.compile(r"(?<![\w/])[\w-]+(?:/[\w-]+)*/[\w-]+\.\w{1,10}")
_SENTENCE = re.compile(r"(?:^|[.!?]”?\s+)([A-Z][^.!?“”`]*)")
_LONGEST_OPENING = 5


def literal_problems(task: Task, instruction: str, titles: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with `instruction`.

    Missing values, placeholders left, names that no node uses, names of resource categories, and openings
    that are used for several sentences.
    """
    if not instruction.strip():
        return ("the instruction is empty",)
    text = _plain(instruction)
    problems = []
    for node in task.graph.nodes:
        for name, value in sorted(node.parameters.items()):
            if not is_told(value, text):
                problems.append(f"the value {value!r} ({name} of “{node.instruction}”) is missing")
    rest = _without_values(task, text)
    problems += [f"the placeholder {found} is left" for found in sorted(set(_PLACEHOLDER.findall(rest)))]
    problems += _unknown_names(task, text, titles)
    words = set(re.findall(r"\w+", _PLACEHOLDER.sub(" ", rest)))
    categories = {item.category for node in task.graph.nodes for item in (*node.inputs, *node.outputs)}
    problems += [
        f"it speaks of {name}, which is a resource category and no word"
        for name in sorted(categories & words)
        if "_" in name
    ]
    problems += [
        f"it begins {count} sentences with “{opening}”" for opening, count in _openings(text) if count > 1
    ]
    return tuple(dict.fromkeys(problems))


def goal_problems(task: Task, goal: str, titles: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with `goal` as the goal of the finished graph.

    It must name every end product, which is what a subtask brings about that no other one reads, or changes
    where it brings about nothing; and it must name nothing that no node uses.
    """
    if not goal.strip():
        return ("there is no goal",)
    text = _plain(goal)
    problems = [
        f"it does not name {value!r}, which is what “{node.instruction}” is for"
        for node, value in _end_products(task)
        if not is_told(value, text)
    ]
    return tuple(dict.fromkeys((*problems, *_unknown_names(task, text, titles))))


def is_told(value: str, text: str) -> bool:
    """Whether `text` says `value`: as it is, or a path by its folder and its name.

    >>> is_told("Documents/sales.csv", "move sales.csv to Documents"), is_told("Spring release", "the Spring party")
    (True, False)
    """  # noqa: E501
    wanted = _plain(value)
    if wanted in text:
        return True
    path = PurePosixPath(wanted)
    parts = (str(path.parent), path.name)
    return (
        "/" in wanted
        and " " not in wanted
        and all(re.search(rf"(?<![\w]){re.escape(part)}(?![\w])", text) for part in parts)
    )


def _end_products(task: Task) -> Iterator[tuple[BoundSubtask, str]]:
    """The subtasks that no other one reads from, each with the values of what it brings about or changes."""
    producers = {edge.producer for edge in task.graph.edges}
    for node in task.graph.nodes:
        if node.instance_id not in producers:
            for item in node.outputs or node.inputs:
                if item.value and item.slot is None:
                    yield node, item.value


def _unknown_names(task: Task, text: str, titles: Mapping[str, str]) -> list[str]:
    known = _known(task, titles)
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    return [
        *(
            f"it names {name!r}, which no subtask does"
            for name in quoted
            if name.strip() and name not in known
        ),
        *(
            f"it names the path {path!r}, which no subtask uses"
            for path in _PATH.findall(text)
            if path not in known
        ),
    ]


def _openings(text: str) -> Iterable[tuple[str, int]]:
    """The first words of sentences, up to a comma, with how many sentences begin with them."""
    found = (sentence.partition(",")[0] for sentence in _SENTENCE.findall(text) if "," in sentence)
    return Counter(
        item for item in found if len(item.split()) <= _LONGEST_OPENING and "/" not in item
    ).items()


def _without_values(task: Task, text: str) -> str:
    values = {_plain(item) for node in task.graph.nodes for item in node.parameters.values()}
    for value in sorted(values, key=len):
        text = text.replace(value, " ")
    return text


def _known(task: Task, titles: Mapping[str, str]) -> str:
    parts = [*titles.values()]
    for node in task.graph.nodes:
        parts += [node.instruction, *node.parameters.values()]
        parts += [item.value for item in (*node.inputs, *node.outputs)]
    parts += [edge.resource.value for edge in task.graph.edges]
    return "\n".join(_plain(part) for part in parts)


def _plain(text: str) -> str:
    return " ".join(text.split())
