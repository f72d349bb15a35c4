"""Steps find what their run has open, and are tried again only when their error says that this helps."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from taskloom.environments.errors import ApplicationUnavailableError
from taskloom.flows.settings import Settings, load_settings
from taskloom.resources.errors import TaskloomError
from taskloom.warehouse.errors import QueryFailedError, WarehouseBusyError


def settings(data: Path) -> Settings:
    return load_settings(
        assignments=["platform=simulated", "composition.count=6", "intents.wanted=2", "replay_share=1"],
        data=data,
        applications=("simulated_notes",),
    )


def test_steps_of_a_run_share_what_its_flow_opened(prefect_home: Path, tmp_path: Path) -> None:
    from taskloom.flows.hosting import begin, work_of

    async def flow() -> None:
        async with begin(settings(tmp_path), "explore_applications") as work:
            assert work_of(work.run.run_id) is work
        with pytest.raises(TaskloomError, match="no run"):
            work_of(work.run.run_id)

    asyncio.run(flow())


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (WarehouseBusyError("others write"), 3),
        (ExceptionGroup("items", [WarehouseBusyError("others write")]), 3),
        (QueryFailedError("no such column"), 1),
        (ApplicationUnavailableError("not installed"), 1),
        (ValueError("a fault"), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_step_is_tried_again_only_if_that_can_help(
    prefect_home: Path, error: Exception, tries: int
) -> None:
    import prefect

    from taskloom.flows.steps import RETRIES

    begun = 0

    @prefect.task(**(RETRIES | {"retries": 2, "retry_delay_seconds": [0.0, 0.0]}))
    async def failing() -> None:
        nonlocal begun
        begun += 1
        raise error

    @prefect.flow
    async def flow() -> None:
        await failing()

    with pytest.raises(type(error)):
        asyncio.run(flow())
    assert begun == tries
