from collections.abc import Iterator

import pytest

from evaluators_api.sandbox import EvaluationSandbox


@pytest.fixture(scope="session")
def shared_sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox() as sandbox:
        yield sandbox
