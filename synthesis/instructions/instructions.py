"""Instructions: a model sums up a task graph in one instruction (B.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompts.inputs import NumberedSubtask, ResourceLink, SummarizerInput
from synthesis.ports import Models
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.task import Task

STAGE = "instructions"


async def write_instruction(
    task: Task,
    titles: Mapping[str, str],
    *,
    models: Models,
    previous: str = "",
    feedback: Sequence[str] = (),
    attempt: int = 0,
    order: Sequence[str] = (),
) -> str:
    """One instruction for the whole of `task`; what it is worth is for validation to say.

    Args:
        task: the task graph with its intent.
        titles: names that people use for applications, by their names in the catalogue.
        models: models by role.
        previous: the instruction of the last round.
        feedback: what was wrong with it.
        attempt: number of the round, from 0.
        order: instance ids in the order of telling; the graph's own order by default.

    Raises:
        ReplyInvalidError: the model gives no usable reply.
        ReplyRefusedError: the model refuses.
        ModelClientError: calls cannot go on at all.
    """
    nodes = in_order(task, order)
    numbers = {node.instance_id: number for number, node in enumerate(nodes, 1)}
    inputs = SummarizerInput(
        goal=task.intent,
        subtasks=numbered(nodes, titles),
        links=tuple(
            ResourceLink(
                producer=numbers[edge.producer],
                consumer=numbers[edge.consumer],
                category=edge.resource.category,
                kind=edge.resource.kind.value,
                value=edge.resource.value,
            )
            for edge in task.graph.edges
        ),
        previous_instruction=previous,
        feedback=tuple(feedback),
    )
    reply = await models.ask(
        inputs,
        stage=STAGE,
        item_id=task.task_id,
        attempt=attempt,
    )
    return reply.instruction.strip()


def in_order(task: Task, order: Sequence[str] = ()) -> list[BoundSubtask]:
    """The nodes in `order`, or in the first successful order, or as the graph has them."""
    nodes = {node.instance_id: node for node in task.graph.nodes}
    wanted = order or (task.successful_orders[0] if task.successful_orders else tuple(nodes))
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
        )
        for number, node in enumerate(nodes, 1)
    )
