"""Tasks composed from the simulated applications' curated subtasks, without performing anything."""

from __future__ import annotations

from functools import cache

from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.instances import fixtures_at_reset
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.intents import PooledSubtask
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Intent, Task
from tests.synthesis.simulated_world import APPLICATIONS, CATEGORIES

TITLES = {name: application.title for name, application in APPLICATIONS.items()}


@cache
def pooled_subtasks() -> tuple[PooledSubtask, ...]:
    """The curated subtasks as a pool."""
    pool = []
    for application in APPLICATIONS.values():
        for example in application.example_subtasks:
            subtask = Subtask(
                subtask_id=f"{application.name}.{example.name}",
                application=application.name,
                application_category=application.category,
                instruction_template=example.instruction_template,
                available_parameters=example.parameter_sets,
                inputs=example.inputs,
                outputs=example.outputs,
                fresh=example.fresh,
            )
            instances = tuple(subtask.bind(item, CATEGORIES) for item in example.parameter_sets)
            pool.append(PooledSubtask(subtask, instances, application.title))
    return tuple(pool)


@cache
def sample_tasks(count: int) -> tuple[Task, ...]:
    """Composed tasks, the same ones every time."""
    pool = pooled_subtasks()
    intent = Intent(
        intent_id="all",
        text="Keep the papers in order",
        subtask_ids=tuple(item.subtask.subtask_id for item in pool),
    )
    result = compose(
        [instance for item in pool for instance in item.instances],
        [intent],
        CompositionRequest(count=count),
        fixtures=fixtures_at_reset(APPLICATIONS.values(), CATEGORIES),
        seed=1,
    )
    return tuple(result)
