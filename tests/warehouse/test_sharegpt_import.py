"""Conversations come back as demonstrations: every picture, point and thought; what is no action of ours
stays a task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taskloom.taskgraph.records.task import Rejection, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exporting.exporting import ExportOptions, export
from taskloom.warehouse.exporting.recordings import points_of
from taskloom.warehouse.importing.importing import read_import
from taskloom.warehouse.store import Warehouse
from tests.warehouse.foreign import run_import
from tests.warehouse.sample_parts import png


def conversations(folder: Path) -> list[dict[str, object]]:
    return [
        {name: value for name, value in item.items() if name != "id"}
        for path in sorted(folder.glob("t*.json"))
        for item in json.loads(path.read_text())
    ]


@pytest.mark.parametrize("granularity", ["step", "trajectory"])
@pytest.mark.parametrize("coordinates", ["absolute", "unit", "thousand"])
def test_what_was_exported_comes_back(
    sampled: Warehouse, warehouse: Warehouse, tmp_path: Path, granularity: str, coordinates: str
) -> None:
    options = ExportOptions.model_validate({"granularity": granularity, "coordinates": coordinates})
    export(sampled, "sharegpt", tmp_path / "out", options=options)

    run_import(warehouse, "sharegpt", tmp_path / "out")

    first = {item.trajectory_id: item for item in sampled.read(Trajectory, pictures=True)}
    back = {item.trajectory_id: item for item in warehouse.read(Trajectory, pictures=True)}
    assert set(back) == {f"sharegpt:{name}:demonstration" for name in ("trajectory-1", "trajectory-2")}
    for name, found in back.items():
        original = first[name.split(":")[1]]
        assert found.instruction == original.instruction
        for step, old in zip(found.steps, original.steps, strict=True):
            assert step.observation_screenshot.sha256 == old.observation_screenshot.sha256
            assert step.thought == old.thought
            assert points_of(step) == points_of(old)
            assert step.action.operation == old.action.operation
    export(warehouse, "sharegpt", tmp_path / "again", options=options)
    assert conversations(tmp_path / "again") == conversations(tmp_path / "out")


def test_other_conversations_come_in_as_tasks_with_their_original(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "a.png").write_bytes(png())
    records = [
        {
            "messages": [
                {"role": "user", "content": "<image>\nWhat is on this screen?"},
                {"role": "assistant", "content": "A window."},
            ],
            "images": ["a.png"],
        }
    ]
    (tmp_path / "train.json").write_text(json.dumps(records))

    run_import(warehouse, "sharegpt", tmp_path)

    (task,) = warehouse.read(Task)
    assert task.instruction == "What is on this screen?"
    assert warehouse.count(Trajectory) == 0


@pytest.mark.parametrize(
    "answer",
    [
        "Action: click_input(point=[1, 2]",
        "Action: __import__('os').system('x')",
        "Action: click_input(point=open('x'))",
        "Action: fly_input(point=[1, 2])",
        "Action: click_input(point='ab')",
        "Action: click_input(point=[1, 2])\nAction: click_input(point=[1, 2])",
    ],
)
def test_an_answer_that_is_no_action_makes_no_trajectory(
    warehouse: Warehouse, tmp_path: Path, answer: str
) -> None:
    (tmp_path / "a.png").write_bytes(png())
    turns = [{"from": "human", "value": "<image>\nSave it."}, {"from": "gpt", "value": answer}]
    (tmp_path / "t.json").write_text(json.dumps([{"image": ["a.png"], "conversations": turns}]))

    run_import(warehouse, "sharegpt", tmp_path)

    assert (warehouse.count(Task), warehouse.count(Trajectory)) == (1, 0)


def test_every_fault_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(
        json.dumps([{"conversations": 3}, {"conversations": [{"from": "bird", "value": "x"}]}])
    )

    with pytest.raises(ImportRefusedError) as refused:
        read_import("sharegpt", tmp_path)
    assert "conversations" in str(refused.value) and "from" in str(refused.value)
    with pytest.raises(ImportRefusedError, match=r"holds no \.json"):
        read_import("sharegpt", tmp_path / "none")


def test_the_layout_of_llava_comes_in_with_numeric_ids_marks_and_texts_alone(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "coco").mkdir()
    (tmp_path / "coco" / "000000033471.png").write_bytes(png())

    def said(question: str) -> list[dict[str, str]]:
        return [{"from": "human", "value": question}, {"from": "gpt", "value": "The bus is red."}]

    asked = [
        {
            "id": "000000033471",
            "image": "coco/000000033471.png",
            "conversations": said("<image>\nWhich colour?"),
        },
        {
            "id": 33472,
            "image": "coco/000000033471.png",
            "conversations": said("Which colour is it?\n<image>"),
        },
        {"id": "wg#1", "conversations": said("Write a poem about a bus.")},
        {"id": "wg#2", "conversations": said("Write a letter about a bus.")},
        {"id": 5, "image": "coco/000000033471.png", "conversations": said("<image> <image> Compare them.")},
    ]
    (tmp_path / "llava_instruct.json").write_text(json.dumps(asked))

    run_import(warehouse, "sharegpt", tmp_path)

    found = {task.task_id: task.instruction for task in warehouse.read(Task)}
    assert found == {
        "sharegpt:000000033471": "Which colour?",
        "sharegpt:33472": "Which colour is it?",
        "sharegpt:wg#1": "Write a poem about a bus.",
        "sharegpt:wg#2": "Write a letter about a bus.",
        "sharegpt:5": "Compare them.",
    }
    reasons = {item.item_id: item.message for item in warehouse.read(Rejection)}
    assert any(
        "number of <image> marks in its texts: 2, of pictures: 1" in reason for reason in reasons.values()
    )
