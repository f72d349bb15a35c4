"""A model as second reader of an audit, played by a script."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.settings import load_settings
from taskloom.flows.stages.second_reading import read_again
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.importing.importing import survey_import
from taskloom.warehouse.records import ImportedItem
from tests.servers.models.behaviour import WireCall
from tests.servers.models.server import LocalModelServer
from tests.servers.models.threaded import in_a_thread
from tests.warehouse import foreign

KEY = "sk-test-5b0e77a1c3"


def collection(folder: Path) -> tuple[list[Task], list[ImportedItem]]:
    foreign.osworld(folder)
    kept = survey_import("osworld", folder).records
    tasks = [item for item in kept if isinstance(item, Task)]
    return tasks, [item for item in kept if isinstance(item, ImportedItem)]


def test_a_second_reader_sees_task_and_judge_and_only_faults_with_a_quote_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, originals = collection(tmp_path / "in")
    asked: list[str] = []

    def answer(call: WireCall) -> str:
        asked.append(call.turns[0])
        faults = [
            {"kind": "unsaid", "quote": '"evaluator"', "reason": "It is judged by it."},
            {"kind": "Ambiguous", "quote": "words that stand nowhere", "reason": "Made up."},
        ]
        return json.dumps({"faults": faults}) if len(asked) > 1 else "I cannot say."

    monkeypatch.setenv("READER_KEY", KEY)
    with in_a_thread(LocalModelServer(answerer=answer, key=KEY)) as server:
        model = f"{{provider: openai, model: m, base_url: '{server.url}', api_key_variable: READER_KEY}}"
        settings = load_settings(data=tmp_path / "data", assignments=[f"models.roles.critic.model={model}"])
        found = asyncio.run(read_again(settings, tasks, originals))
        calls = len(asked)
        again = asyncio.run(read_again(settings, tasks, originals))

    assert (len(asked), again.calls) == (calls, 0)
    assert all("evaluator" in text for text in asked)
    assert {item.check for item in found.findings} == {"second_reader_unsaid"}
    assert {item.severity for item in found.findings} == {"warning"}
    assert (found.read, found.unread) == (len(tasks), 0) and found.calls >= len(tasks)
    assert again.findings == found.findings


def test_without_a_model_there_is_no_second_reader(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"models\.roles\.critic"):
        asyncio.run(read_again(load_settings(data=tmp_path / "data"), [], []))
