"""Instructions: a model sums up a task graph in one instruction (B.4)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from taskloom.prompts.inputs import NumberedSubtask, ResourceInView, ResourceLink, SummarizerInput
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.instances import Resource
from taskloom.resources.reading.worlds import load_world
from taskloom.resources.worlds import World
from taskloom.synthesis.instructions.literal_checks import goal_problems, is_told
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.measures.coherency import continuity
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task

STAGE = "instructions"


@dataclass(frozen=True, slots=True)
class Written:
    """What the summarizer wrote."""

    instruction: str
    goal: str
    """The goal: the intent, or a new one."""


async def write_instruction(
    task: Task,
    titles: Mapping[str, str],
    *,
    models: Models,
    previous: str = "",
    feedback: Sequence[str] = (),
    attempt: int = 0,
    order: Sequence[str] = (),
) -> Written:
    """One instruction for the whole of `task`, and its goal; what they are worth is for validation to say.

    The intent that the task was composed for is its goal if it names the end products of the finished graph,
    what reaches them by a slot such as the clipboard, and nothing that is not in it; else a goal is asked for
    with the instruction.

    Args:
        task: the task graph with its intent.
        titles: names that people use for applications, by their names in the catalogue.
        models: models by role.
        previous: the instruction of the last round.
        feedback: what was wrong with it.
        attempt: number of the round, from 0.
        order: instance ids in the order of telling; the graph's own order by default.

    Raises:
        ModelClientError: no usable reply.
    """
    nodes = in_order(task, order)
    # An intent binds its end products only, and any text may come to them by a slot such as the clipboard.
    slots = (edge.resource.value for edge in task.graph.edges if edge.resource.slot is not None)
    told = all(is_told(value.casefold(), task.intent.casefold()) for value in slots)
    goal = task.intent if told and not goal_problems(task, task.intent, titles) else ""
    inputs = SummarizerInput(
        goal=goal,
        subtasks=numbered(nodes, titles),
        links=resource_links(task, nodes),
        called=called_in(task),
        uses=uses_in(task),
        readers=readers_in(task),
        previous_instruction=previous,
        feedback=tuple(feedback),
    )
    reply = await models.ask(inputs, stage=STAGE, item_id=task.task_id, attempt=attempt)
    return Written(reply.instruction.strip(), goal or reply.goal.strip().removesuffix("."))


def called_in(task: Task) -> dict[str, str]:
    """What people in the task's world call the things that its subtasks read and write, by their values."""
    world = _world(task.world)
    return {} if world is None else _said(task, world.phrase)


def uses_in(task: Task) -> dict[str, str]:
    """What the things that its subtasks read and write are wanted for in the task's world, by their values:
    the occasion that all have in common, else each for something of its own."""
    world = _world(task.world)
    if world is None:
        return {}
    occasions = world.common_occasions(_values(task))
    if occasions:
        return {value: occasions[0] for value in _values(task) if world.occasions_of(value)}
    return _said(task, world.use)


def readers_in(task: Task) -> str:
    """Who reads what is published in the task's world; empty where nothing is said."""
    world = _world(task.world)
    return "" if world is None else world.readers


def _said(task: Task, words_for: Callable[[str], str]) -> dict[str, str]:
    found = {value: words_for(value) for value in _values(task)}
    return {value: words for value, words in found.items() if words}


def _values(task: Task) -> list[str]:
    values = (item.value for node in task.graph.nodes for item in (*node.inputs, *node.outputs))
    return [value for value in dict.fromkeys(values) if value]


@cache
def _world(name: str) -> World | None:
    """The world of this name; None if it is of a kind that only a user's catalogue knows."""
    try:
        return load_world(name)
    except UnknownCatalogEntryError:
        return None


def in_order(task: Task, order: Sequence[str] = ()) -> list[BoundSubtask]:
    """The nodes in `order`, or in the successful order that is the easiest to follow, or as the graph has
    them.

    In the easiest one, threads are finished before others are begun: `continuity` is largest.
    """
    nodes = {node.instance_id: node for node in task.graph.nodes}
    wanted = order or max(task.successful_orders, key=partial(continuity, task.graph), default=tuple(nodes))
    return [nodes[name] for name in wanted]


def numbered(nodes: Sequence[BoundSubtask], titles: Mapping[str, str]) -> tuple[NumberedSubtask, ...]:
    """The nodes as models are shown them, numbered from 1."""
    return tuple(
        NumberedSubtask(
            number=number,
            application=titles.get(node.application, node.application),
            instruction=node.instruction,
            subtask_id=node.subtask_id,
            parameters=node.parameters,
            reads=_views(node.inputs),
            makes=_views(node.outputs),
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


def _views(resources: Sequence[Resource]) -> tuple[ResourceInView, ...]:
    return tuple(
        ResourceInView(category=item.category, value=item.value, kind=item.kind.value) for item in resources
    )
