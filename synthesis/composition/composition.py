"""Composition of task graphs with controlled complexity, without any model call (section 3.1, App. B.3).

The same pool, request and seed give the same tasks in the same order, no two with one canonical key.
"""

from collections.abc import Callable, Collection, Sequence

from taskloom.resources.dimensions import Capability
from taskloom.synthesis.composition.building import TaskBuilder
from taskloom.synthesis.composition.composer import Composer
from taskloom.synthesis.composition.pool.compiled_pool import Fixtures, compile_pool
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent


def compose(
    pool: Sequence[BoundSubtask],
    intents: Sequence[Intent],
    request: CompositionRequest,
    *,
    fixtures: Fixtures,
    capabilities: Sequence[Capability] = (),
    scenario_of: Callable[[Sequence[str], Sequence[str]], str] | None = None,
    sense: Sense | None = None,
    provenance: Provenance | None = None,
    known: Collection[str] = (),
    begun: Sequence[TaskGraph] = (),
    seed: int = 0,
) -> Composer:
    """The tasks composed from `pool` as `request` asks, made while they are taken, and then the account.

    Args:
        pool: Verified subtasks with their parameters; the order does not matter.
        intents: Goals.
        request: Quotas and limits.
        fixtures: Resources that exist at reset, by application ("" for those of every task).
        capabilities: Rows of Table 12 to mark tasks with.
        scenario_of: Names the scenario of all application categories and of those in which end products come
            about, where the intent names none.
        sense: What tells subtasks apart that nobody would ask for together; without it none are.
        provenance: Provenance of the tasks; the seed is put in.
        known: Ids of tasks that exist already and are not to be made again.
        begun: Graphs of tasks that were composed before and wait; those that the pool and the request still
            allow come first, and the others are chosen to go with them.
        seed: Seed of all choices.
    """
    compiled = compile_pool(pool, fixtures, sense)
    marked = (provenance or Provenance(stage="composition")).model_copy(update={"seed": seed})
    builder = TaskBuilder(compiled, capabilities, scenario_of, seed=seed, provenance=marked)
    return Composer(compiled, intents, request, builder, known=known, begun=begun, seed=seed)
