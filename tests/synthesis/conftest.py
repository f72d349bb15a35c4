from collections.abc import Iterator

import pytest

from benchmarks.synthetic_pool import synthetic_pool
from evaluators_api.interpreter.sandbox import EvaluationSandbox
from tests.synthesis.compositions import Pool


@pytest.fixture(scope="session")
def shared_sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def pool() -> Pool:
    """Bound subtasks, intents and fixtures to compose from."""
    return synthetic_pool(seed=3, intents=40)
