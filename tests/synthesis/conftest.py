import asyncio
from collections.abc import Iterator

import pytest

from benchmarks.synthetic_pool import synthetic_pool
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.taskgraph.records.task import Task
from tests.synthesis.compositions import Pool, composed
from tests.synthesis.simulated_world import SimulatedEnvironments


@pytest.fixture(scope="session")
def shared_sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox() as sandbox:
        yield sandbox


@pytest.fixture(autouse=True)
def closed_environments() -> Iterator[None]:
    """Closes what the test opened."""
    yield
    while SimulatedEnvironments.open_now:
        asyncio.run(SimulatedEnvironments.open_now.pop().close())


@pytest.fixture(scope="session")
def pool() -> Pool:
    """Bound subtasks, intents and fixtures to compose from."""
    return synthetic_pool(seed=3, intents=40)


@pytest.fixture(scope="session")
def hundred_tasks(pool: Pool) -> list[Task]:
    """A hundred tasks composed from `pool`, with nothing asked about them."""
    return composed(pool, count=100)[0]
