"""Exports keep the published rules of the programs that read them."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections import deque
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.interaction import ClickInput
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ExportRefusedError, ImportRefusedError
from taskloom.warehouse.exporting.exporting import ExportOptions, export
from taskloom.warehouse.exporting.recordings import RecordFiles, points_of
from taskloom.warehouse.importing.importing import read_import, survey_import
from taskloom.warehouse.store import Warehouse
from tests.warehouse.foreign import run_import
from tests.warehouse.sample_parts import trajectory


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("granularity", ["step", "trajectory"])
def test_openai_records_keep_the_rules_for_pictures(
    sampled: Warehouse, tmp_path: Path, granularity: str
) -> None:
    export(
        sampled,
        "openai_chat",
        tmp_path / "out",
        options=ExportOptions.model_validate({"granularity": granularity}),
    )

    records = lines(tmp_path / "out" / "train.jsonl")
    assert records and len(lines(tmp_path / "out" / "index.jsonl")) == len(records)
    for record in records:
        assert set(record) == {"messages"}
        messages = record["messages"]
        assert isinstance(messages, list)
        assert [message["role"] for message in messages] == ["system"] + ["user", "assistant"] * (
            len(messages) // 2
        )
        pictures = 0
        for message in messages:
            if message["role"] != "user":
                assert isinstance(message["content"], str) and message["content"]
                continue
            for part in message["content"]:
                if part["type"] == "image_url":
                    pictures += 1
                    head, _, data = part["image_url"]["url"].partition(",")
                    assert head == "data:image/png;base64"
                    with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
                        assert picture.mode in ("RGB", "RGBA")
        assert 1 <= pictures <= 10
    assert not (tmp_path / "out" / "images").exists()


def test_openai_pictures_can_lie_under_an_address(sampled: Warehouse, tmp_path: Path) -> None:
    options = ExportOptions(image_urls="https://example.org/set/")

    export(sampled, "openai_chat", tmp_path / "out", options=options)

    text = (tmp_path / "out" / "train.jsonl").read_text()
    name = text.partition("https://example.org/set/")[2].partition('"')[0]
    assert (tmp_path / "out" / name).is_file()


def test_a_dialogue_with_more_than_ten_pictures_is_refused_for_openai(
    filled: Warehouse, tmp_path: Path
) -> None:
    step = trajectory().steps[0]
    steps = tuple(step.model_copy(update={"step": number}) for number in range(1, 12))
    filled.write([trajectory(steps=steps)], replace=True)

    manifest = export(
        filled, "openai_chat", tmp_path / "out", options=ExportOptions(granularity="trajectory")
    )

    reasons = [item.reason for item in manifest.outcome.refused]
    assert len(reasons) == 1 and "more than 10 pictures in one record; `--window 10`" in reasons[0]


def test_long_recordings_are_cut_into_windows_or_show_their_last_screens(
    filled: Warehouse, tmp_path: Path
) -> None:
    step = trajectory().steps[0]
    steps = tuple(step.model_copy(update={"step": number}) for number in range(1, 24))
    filled.write([trajectory(steps=steps)], replace=True)

    for name, changes in (("windows", {"window": 10}), ("last", {"pictures": 4})):
        options = ExportOptions(granularity="trajectory").model_copy(update=changes)
        assert not export(filled, "openai_chat", tmp_path / name, options=options).outcome.refused

    windows = [_exchange(record) for record in lines(tmp_path / "windows" / "train.jsonl")]
    assert [len(answers) for _, answers in windows[:3]] == [10, 10, 4], "finish() is the last turn"
    assert "10. " in windows[1][0][0] and "20. " in windows[2][0][0] and "21. " not in windows[2][0][0]
    whole = lines(tmp_path / "last" / "train.jsonl")[0]
    questions, answers = _exchange(whole)
    assert answers == [False] * 20 + [True] * 4
    assert sum("not shown" in text for text in questions) == 19
    messages = whole["messages"]
    assert isinstance(messages, list)
    said = [str(message) for message in messages if message["role"] == "assistant"]
    assert ["finish(" in text for text in said] == [False] * 23 + [True]


def _exchange(record: dict[str, object]) -> tuple[list[str], list[bool]]:
    """What the user says at each turn, and whether its answer is learnt."""
    messages = record["messages"]
    assert isinstance(messages, list)
    said = [message["content"] for message in messages if message["role"] == "user"]
    shown = [[part for part in parts if part["type"] == "image_url"] for parts in said]
    learnt = [message.get("weight") != 0 for message in messages if message["role"] == "assistant"]
    assert [bool(pictures) for pictures in shown] == learnt
    return ["".join(part.get("text", "") for part in parts) for parts in said], learnt


@pytest.mark.parametrize("granularity", ["step", "trajectory"])
def test_sharegpt_says_how_to_read_it_and_always_lists_its_pictures(
    sampled: Warehouse, tmp_path: Path, granularity: str
) -> None:
    export(
        sampled,
        "sharegpt",
        tmp_path / "out",
        options=ExportOptions.model_validate({"granularity": granularity}),
    )

    information = json.loads((tmp_path / "out" / "dataset_info.json").read_text())
    assert set(information) == {"taskloom_train"}
    entry = information["taskloom_train"]
    records = json.loads((tmp_path / "out" / entry["file_name"]).read_text())
    for record in records:
        turns = record[entry["columns"]["messages"]]
        pictures = record[entry["columns"]["images"]]
        assert isinstance(pictures, list)
        assert sum(turn["value"].count("<image>") for turn in turns) == len(pictures)
        assert [turn["from"] for turn in turns] == ["human", "gpt"] * (len(turns) // 2)
        assert all((tmp_path / "out" / picture).is_file() for picture in pictures)


def test_the_published_evaluator_finds_every_file_of_a_task(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "omnibench", tmp_path / "out")

    place = tmp_path / "out" / "task_dag"
    known = {item["id"]: item for item in json.loads((place / "subtasks.json").read_text())}
    (file,) = (place / "tasks").iterdir()
    dag = json.loads(file.read_text())["dag"]
    waiting = {node: sum(node in consumers for consumers in dag["edges"].values()) for node in dag["nodes"]}
    ready = deque(node for node, count in waiting.items() if not count)
    seen = []
    while ready:
        node = ready.popleft()
        seen.append(node)
        code = (place / "evaluations" / f"{node}.txt").read_text()
        namespace: dict[str, object] = {}
        exec(code, namespace)
        function = namespace["evaluate_agent_task_completion"]
        assert set(known[node]["available_parameters"]) == set(function.__code__.co_varnames[:1])  # type: ignore[attr-defined]
        for consumer in dag["edges"].get(node, []):
            waiting[consumer] -= 1
            if not waiting[consumer]:
                ready.append(consumer)
    assert sorted(seen) == sorted(dag["nodes"])


def test_a_high_level_export_draws_from_tasks_that_have_whole_trajectories(
    filled: Warehouse, tmp_path: Path
) -> None:
    (task,) = filled.read(Task)
    filled.write([task.model_copy(update={"task_id": "never-replayed"})])

    manifest = export(
        filled, "openai_chat", tmp_path / "out", options=ExportOptions(instruction_level="high")
    )

    assert manifest.selection.replayed
    ids = {str(line["id"]).split("#")[0] for line in lines(tmp_path / "out" / "index.jsonl")}
    assert ids == {"recording-1"}
    filled.change(lambda connection: connection.execute("DELETE FROM replays"))
    with pytest.raises(ExportRefusedError, match="successful replay"):
        export(filled, "openai_chat", tmp_path / "none", options=ExportOptions(instruction_level="high"))


def test_record_files_begin_anew_at_their_limits_and_end_whole(tmp_path: Path) -> None:
    with RecordFiles(tmp_path, lines=True, max_records=2, max_bytes=60) as files:
        for number in range(5):
            files.add("train", {"number": number, "text": "x" * (30 if number == 3 else 1)})
    with RecordFiles(tmp_path, lines=False) as lists:
        for number in range(3):
            lists.add("test", {"number": number})

    assert files.files["train"] == [
        "train.jsonl",
        "train-00001.jsonl",
        "train-00002.jsonl",
        "train-00003.jsonl",
    ]
    read = [record["number"] for name in files.files["train"] for record in lines(tmp_path / name)]
    assert read == [0, 1, 2, 3, 4]
    assert [record["number"] for record in json.loads((tmp_path / "test.json").read_text())] == [0, 1, 2]


def test_grounding_points_lie_in_their_boxes(sampled: Warehouse, tmp_path: Path) -> None:
    for coordinates in ("absolute", "unit", "thousand"):
        out = tmp_path / coordinates
        export(sampled, "grounding", out, options=ExportOptions.model_validate({"coordinates": coordinates}))
        records = json.loads((out / "train.json").read_text())
        assert records
        for record in records:
            left, top, right, bottom = record["bbox"]
            x, y = record["point"]
            assert left <= x <= right and top <= y <= bottom
            question, answer = record["conversations"]
            assert question["value"].count("<image>") == 1
            assert json.loads(answer["value"]) == pytest.approx([x, y], rel=1e-4)
            assert (out / record["image"]).is_file()


def test_agent_net_is_read_back_with_the_same_points(
    sampled: Warehouse, warehouse: Warehouse, tmp_path: Path
) -> None:
    export(sampled, "agent_net", tmp_path / "out")

    found = [item for item in read_import("agent_net", tmp_path / "out") if isinstance(item, Trajectory)]

    stored = {item.trajectory_id: item for item in sampled.read(Trajectory, pictures=True)}
    assert found
    for item in found:
        original = stored[item.subtask_id.removeprefix("agent_net:")]
        for mine, theirs in zip(original.steps, item.steps, strict=True):
            if isinstance(mine.action, ClickInput):
                assert points_of(theirs) == points_of(mine)


def test_shards_hold_a_picture_and_a_record_per_step(sampled: Warehouse, tmp_path: Path) -> None:
    manifest = export(sampled, "web_dataset", tmp_path / "out")

    with tarfile.open(tmp_path / "out" / "train-00000.tar") as shard:
        names = shard.getnames()
        keys = {name.partition(".")[0] for name in names}
        assert sorted(names) == sorted(f"{key}.{ending}" for key in keys for ending in ("png", "json"))
        assert len(keys) == manifest.outcome.counts["train"]
        member = shard.extractfile(next(name for name in names if name.endswith(".json")))
        assert member is not None and set(json.loads(member.read())) == {"id", "system", "question", "answer"}


def test_our_own_dataset_folder_is_read_back(
    sampled: Warehouse, warehouse: Warehouse, tmp_path: Path
) -> None:
    export(sampled, "hugging_face", tmp_path / "out")

    run_import(warehouse, "hugging_face", tmp_path / "out")

    for record in (Task, Subtask, EvaluationFunction):
        assert list(warehouse.read(record)) == list(sampled.read(record))
    for mine in warehouse.read(Trajectory, pictures=True):
        (original,) = sampled.read(
            Trajectory, "trajectory_id = $id", {"id": mine.trajectory_id}, pictures=True
        )
        assert [step.observation_screenshot for step in mine.steps] == [
            step.observation_screenshot for step in original.steps
        ]
        assert [step.target_rectangle for step in mine.steps] == [
            step.target_rectangle for step in original.steps
        ]
        assert [type(step.action) for step in mine.steps] == [type(step.action) for step in original.steps]


def test_a_broken_row_of_a_dataset_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    pyarrow.parquet.write_table(
        pa.table({"task_id": ["a"], "surprise": [1]}), tmp_path / "tasks" / "t.parquet"
    )
    (tmp_path / "subtasks").mkdir()
    (tmp_path / "subtasks" / "s.parquet").write_bytes(b"no")

    with pytest.raises(ImportRefusedError, match="is not a Parquet file"):
        read_import("hugging_face", tmp_path)
    (tmp_path / "subtasks" / "s.parquet").unlink()
    with pytest.raises(ImportRefusedError, match=r"tasks/t.parquet: \[0\]: .*surprise"):
        read_import("hugging_face", tmp_path)


def test_a_damaged_table_of_steps_costs_only_the_trajectories_that_it_held(
    sampled: Warehouse, tmp_path: Path
) -> None:
    export(sampled, "hugging_face", tmp_path / "out")
    (written,) = (tmp_path / "out" / "trajectory_steps").glob("*.parquet")
    table = pyarrow.parquet.read_table(written)
    names = table.column("trajectory_id").to_pylist()
    order = list(dict.fromkeys(names))
    ends = [number for number in range(1, len(names)) if names[number] != names[number - 1]]
    # The second file holds the last step of one trajectory to the first step of the last.
    cuts = [0, ends[0] - 1, ends[-1] + 1, len(names)]
    written.unlink()
    for number, (start, stop) in enumerate(pairwise(cuts)):
        part = written.with_name(f"part-{number}.parquet")
        pyarrow.parquet.write_table(table.slice(start, stop - start), part)
    part = written.with_name("part-1.parquet")
    part.write_bytes(part.read_bytes()[:-20])

    reading = survey_import("hugging_face", tmp_path / "out")

    broken = {item.item_id: str(item.faults[0]) for item in reading.broken}
    assert list(broken) == ["trajectory_steps/part-1.parquet", order[0], order[-1]]
    assert "last steps cannot be read" in broken[order[0]]
    assert "first steps cannot be read" in broken[order[-1]]
    assert not [item for item in reading.records if isinstance(item, Trajectory)]
