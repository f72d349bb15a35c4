"""What a task is called on a page, and how its subtasks are numbered there."""

from taskloom.taskgraph.records.task import Task


def title_of(task: Task) -> str:
    """What the task is for; where no intent says so, how large it is and which applications it uses."""
    if task.intent:
        return task.intent
    names = sorted({node.application for node in task.graph.nodes if node.application})
    size = len(task.graph.nodes)
    where = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
    return f"{size} {'subtask' if size == 1 else 'subtasks'}" + (f" in {where}" if where else "")


def numbers_of(task: Task) -> dict[str, int]:
    """Numbers of the subtasks on a page: their places in the first successful order."""
    names = [node.instance_id for node in task.graph.nodes]
    order = task.successful_orders[0] if task.successful_orders else ()
    return {name: number for number, name in enumerate(dict.fromkeys((*order, *names)), 1)}
