from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from taskloom.flows.settings import Settings, load_settings
from tests.shared_work import made_once


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a whole run with Prefect's server, client and engine leaves to the garbage collector is no error
    here."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


def whole_settings(data: Path, *assignments: str) -> Settings:
    """Settings of a build of the whole simulated platform."""
    usual = ("platform=simulated", "composition.count=30", "replay_share=0.2", "intents.wanted=8")
    return load_settings(assignments=[*usual, *assignments], data=data)


@pytest.fixture(scope="session")
def built_data(prefect_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a build of the whole simulated platform, with its summary in `summary.json`; to be
    copied."""
    from taskloom.flows.build_dataset import build_dataset

    def build(data: Path) -> None:
        summary = asyncio.run(build_dataset(settings=whole_settings(data)))
        (data / "summary.json").write_text(summary.model_dump_json())

    return made_once(tmp_path_factory, "dataset", build)
