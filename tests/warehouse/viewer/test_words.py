from __future__ import annotations

import pytest

from taskloom.taskgraph.records.gestures import keys_in_words
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.viewer.pages.task_pages import title_of
from tests.warehouse.samples import records


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("hello", "type “hello”"),
        ("{ESC}^a{DELETE}", "press Escape, Ctrl+A, Delete"),
        ("a.csv{ENTER}", "type “a.csv”, press Enter"),
        ("^{+}", "press Ctrl++"),
        ("{NOKEY}", "type {NOKEY}"),
        ("", "type nothing"),
    ],
)
def test_keys_are_said_as_a_person_would(keys: str, words: str) -> None:
    assert keys_in_words(keys) == words


def test_a_task_without_intent_is_called_by_its_size_and_applications() -> None:
    task = next(record for record in records() if isinstance(record, Task))
    assert title_of(task.model_copy(update={"intent": "Plan a trip"})) == "Plan a trip"
    plain = task.model_copy(update={"intent": ""})
    assert title_of(plain) == "2 subtasks in notes and sheets"
    alone = plain.graph.model_copy(update={"nodes": plain.graph.nodes[:1], "edges": ()})
    assert title_of(plain.model_copy(update={"graph": alone})) == "1 subtask in notes"
