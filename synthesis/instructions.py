"""Instructions: a model sums up a task graph in one instruction (B.4). Part of it can be checked without a
model: it has all values, and none that no subtask uses."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import PurePosixPath

from taskloom.prompts.inputs import NumberedSubtask, ResourceLink, SummarizerInput
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.reading.worlds import load_world
from taskloom.resources.worlds import World
from taskloom.synthesis.intents import resources_in_view
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.measures.coherency import continuity
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task

STAGE = "instructions"
_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{2,}?)'(?!\w)|\"([^\"\n]{2,}?)\"|“([^”\n]{2,}?)”|`([^`\n]{2,}?)`")
_PATH = re.compile(r"(?<![\w/])[\w-]+(?:/[\w-]+)*/[\w-]+\.\w{1,10}")
_SENTENCE = re.compile(r"(?:^|[.!?]”?\s+)([A-Z][^.!?“”`]*)")
_LONGEST_OPENING = 5


@dataclass(frozen=True, slots=True)
class WrittenInstruction:
    """What the summarizer wrote."""

    instruction: str
    goal: str
    """The intent, or a new goal."""


async def write_instruction(
    task: Task,
    titles: Mapping[str, str],
    *,
    models: Models,
    previous: str = "",
    feedback: Sequence[str] = (),
    attempt: int = 0,
    order: Sequence[str] = (),
) -> WrittenInstruction:
    """One instruction for all of `task`, and its goal; validation decides whether they are good.

    The intent for which the task was composed is its goal if it names the end products of the finished graph,
    and what reaches them by a slot such as the clipboard, and nothing that is not in the graph; otherwise a
    goal is requested with the instruction.

    Args:
        titles: names that people use for applications, by their names in the catalogue.
        previous: the instruction of the last round, to which `feedback` refers.
        attempt: number of the round, from 0.
        order: instance ids in the order of presentation; by default the easiest successful order.

    Raises:
        ModelClientError: no usable reply.
    """
    nodes = in_order(task, order)
    # An intent fixes only its end products; any text may reach them by a slot such as the clipboard.
    slots = (edge.resource.value for edge in task.graph.edges if edge.resource.slot is not None)
    complete = all(names_value(value.casefold(), task.intent.casefold()) for value in slots)
    goal = task.intent if complete and not goal_problems(task, task.intent, titles) else ""
    inputs = SummarizerInput(
        goal=goal,
        subtasks=numbered(nodes, titles),
        links=resource_links(task, nodes),
        called=phrases_in(task),
        uses=uses_in(task),
        readers=world.readers if (world := _world(task.world)) else "",
        previous_instruction=previous,
        feedback=tuple(feedback),
    )
    reply = await models.ask(inputs, stage=STAGE, item_id=task.task_id, attempt=attempt)
    return WrittenInstruction(reply.instruction.strip(), goal or reply.goal.strip().removesuffix("."))


def phrases_in(task: Task) -> dict[str, str]:
    """What people in the task's world call the things that its subtasks read and write, by value."""
    world = _world(task.world)
    return {} if world is None else _words_by_value(task, world.phrase)


def uses_in(task: Task) -> dict[str, str]:
    """What the things that its subtasks read and write are for in the task's world, by value: the occasion
    that all share, otherwise each its own."""
    world = _world(task.world)
    if world is None:
        return {}
    occasions = world.common_occasions(_values(task))
    if occasions:
        return {value: occasions[0] for value in _values(task) if world.occasions_of(value)}
    return _words_by_value(task, world.use)


def _words_by_value(task: Task, words_for: Callable[[str], str]) -> dict[str, str]:
    found = {value: words_for(value) for value in _values(task)}
    return {value: words for value, words in found.items() if words}


def _values(task: Task) -> list[str]:
    values = (item.value for node in task.graph.nodes for item in (*node.inputs, *node.outputs))
    return [value for value in dict.fromkeys(values) if value]


@cache
def _world(name: str) -> World | None:
    """The world of this name; None if only a user's catalogue knows its kind."""
    try:
        return load_world(name)
    except UnknownCatalogEntryError:
        return None


def in_order(task: Task, order: Sequence[str] = ()) -> list[BoundSubtask]:
    """The nodes in `order`, else in the successful order that is the easiest to follow, else in the graph's.

    The easiest order finishes threads before it begins others: its `continuity` is largest.
    """
    nodes = {node.instance_id: node for node in task.graph.nodes}
    chosen = order or max(task.successful_orders, key=partial(continuity, task.graph), default=tuple(nodes))
    return [nodes[name] for name in chosen]


def numbered(nodes: Sequence[BoundSubtask], titles: Mapping[str, str]) -> tuple[NumberedSubtask, ...]:
    """The nodes as models are shown them, numbered from 1."""
    return tuple(
        NumberedSubtask(
            number=number,
            application=titles.get(node.application, node.application),
            instruction=node.instruction,
            subtask_id=node.subtask_id,
            parameters=node.parameters,
            reads=resources_in_view(node.inputs),
            makes=resources_in_view(node.outputs),
        )
        for number, node in enumerate(nodes, 1)
    )


def resource_links(task: Task, nodes: Sequence[BoundSubtask]) -> tuple[ResourceLink, ...]:
    """The causal links of `task`, by the numbers that its subtasks have in `nodes`."""
    numbers = {node.instance_id: number for number, node in enumerate(nodes, 1)}
    return tuple(
        ResourceLink(
            producer=numbers[edge.producer],
            consumer=numbers[edge.consumer],
            category=edge.resource.category,
            kind=edge.resource.kind.value,
            value=edge.resource.value,
        )
        for edge in task.graph.edges
    )


def literal_problems(task: Task, instruction: str, titles: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with `instruction`: missing values, remaining placeholders, names that no node uses,
    names of resource categories, and openings shared by several sentences."""
    if not instruction.strip():
        return ("the instruction is empty",)
    text = _normalise(instruction)
    problems = [
        f"the value {value!r} ({name} of “{node.instruction}”) is missing"
        for node in task.graph.nodes
        for name, value in sorted(node.parameters.items())
        if not names_value(value, text)
    ]
    rest = text
    for value in sorted(
        {_normalise(item) for node in task.graph.nodes for item in node.parameters.values()}, key=len
    ):
        rest = rest.replace(value, " ")
    problems += [f"the placeholder {found} is left" for found in sorted(set(_PLACEHOLDER.findall(rest)))]
    problems += _unknown_names(task, text, titles)
    words = set(re.findall(r"\w+", _PLACEHOLDER.sub(" ", rest)))
    categories = {item.category for node in task.graph.nodes for item in (*node.inputs, *node.outputs)}
    problems += [
        f"it speaks of {name}, which is a resource category and no word"
        for name in sorted(categories & words)
        if "_" in name
    ]
    starts = (sentence.partition(",")[0] for sentence in _SENTENCE.findall(text) if "," in sentence)
    openings = Counter(item for item in starts if len(item.split()) <= _LONGEST_OPENING and "/" not in item)
    problems += [
        f"it begins {count} sentences with “{opening}”" for opening, count in openings.items() if count > 1
    ]
    return tuple(dict.fromkeys(problems))


def goal_problems(task: Task, goal: str, titles: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with `goal` as the goal of the finished graph.

    It must name every end product, which is what a subtask makes that no other one reads, or changes if it
    makes nothing; and it must name nothing that no node uses.
    """
    if not goal.strip():
        return ("there is no goal",)
    text = _normalise(goal)
    producers = {edge.producer for edge in task.graph.edges}
    problems = [
        f"it does not name {item.value!r}, which is what “{node.instruction}” is for"
        for node in task.graph.nodes
        if node.instance_id not in producers
        for item in node.outputs or node.inputs
        if item.value and item.slot is None and not names_value(item.value, text)
    ]
    return tuple(dict.fromkeys((*problems, *_unknown_names(task, text, titles))))


def names_value(value: str, text: str) -> bool:
    """Whether `text` contains `value`: literally, or a path by its folder and its name.

    >>> names_value("Documents/sales.csv", "move sales.csv to Documents")
    True
    >>> names_value("Spring release", "the Spring party")
    False
    """
    wanted = _normalise(value)
    if wanted in text or "/" not in wanted or " " in wanted:
        return wanted in text
    path = PurePosixPath(wanted)
    parts = (str(path.parent), path.name)
    return all(re.search(rf"(?<![\w]){re.escape(part)}(?![\w])", text) for part in parts)


def _unknown_names(task: Task, text: str, titles: Mapping[str, str]) -> list[str]:
    parts = [*titles.values(), *(edge.resource.value for edge in task.graph.edges)]
    for node in task.graph.nodes:
        parts += [node.instruction, *node.parameters.values()]
        parts += [item.value for item in (*node.inputs, *node.outputs)]
    known = "\n".join(map(_normalise, parts))
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    names = [name for name in quoted if name.strip() and name not in known]
    paths = [path for path in _PATH.findall(text) if path not in known]
    return [
        *(f"it names {name!r}, which no subtask does" for name in names),
        *(f"it names the path {path!r}, which no subtask uses" for path in paths),
    ]


def _normalise(text: str) -> str:
    return " ".join(text.split())
