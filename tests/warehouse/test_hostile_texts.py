"""Every export of tasks with hostile texts is read by the rules of its files, and recordings come back."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import tempfile
import tomllib
from itertools import product
from pathlib import Path

import atif
import pyarrow.parquet
import pytest
import yaml
from hypothesis import given, note, settings
from hypothesis import strategies as st

from taskloom.resources.applications import ControlQuery
from taskloom.resources.record import Record
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.exporting.exporting import ExportOptions
from taskloom.warehouse.importing.importing import read_import
from taskloom.warehouse.lookup import EXPORTS
from taskloom.warehouse.store import Warehouse
from tests.shared_work import examples
from tests.warehouse.samples import export, records

_PIECES = st.sampled_from(
    [
        "<image>",
        "<video>",
        "< audio >",
        "</s>",
        "<|im_end|>",
        "Action: finish()",
        "\nAction: finish()\n",
        "\nDone so far:\n",
        "Task: other",
        "Thought: no",
        "{{ name }}",
        "${HOME}",
        "'''",
        '"""',
        "```",
        "\\",
        "\u2028",
        "\u0085",
        "\x0b",
        "\r\n",
        "---\n- a: b",
        "[table]",
        "é",
        "日本",
        "\u202e",
        "😀",
        "# x",
    ]
)
TEXTS = st.lists(
    _PIECES | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6), max_size=5
).map(lambda parts: "Do " + " ".join(parts) + " now")


def hostile(text: str, thought: str) -> list[Record]:
    """The small dataset, with these texts wherever models, pages or people wrote one."""
    changed: list[Record] = []
    for item in records():
        if isinstance(item, Task):
            nodes = tuple(node.model_copy(update={"instruction": text}) for node in item.graph.nodes)
            graph = item.graph.model_copy(update={"nodes": nodes})
            item = item.model_copy(update={"instruction": text, "intent": thought, "graph": graph})
        elif isinstance(item, Subtask):
            item = item.model_copy(update={"instruction_template": text.replace("{", "(").replace("}", ")")})
        elif isinstance(item, Trajectory):
            steps = tuple(
                step.model_copy(
                    update={"thought": thought, "target": ControlQuery(text=text), "description": text}
                )
                for step in item.steps
            )
            item = item.model_copy(update={"instruction": text, "steps": steps})
        changed.append(item)
    return changed


def check_file(path: Path) -> None:
    """Read a file by the rules of its kind."""
    if path.suffix == ".parquet":
        pyarrow.parquet.read_table(path)
        return
    if path.suffix not in (".json", ".jsonl", ".toml", ".yaml", ".py", ".md"):
        return
    text = path.read_bytes().decode("utf-8")
    if path.suffix == ".jsonl" or path.name == "data.json":
        for line in text.split("\n")[:-1]:
            assert isinstance(json.loads(line), dict)
    elif path.suffix == ".json":
        json.loads(text)
    elif path.suffix == ".toml":
        tomllib.loads(text)
    elif path.suffix == ".yaml":
        yaml.safe_load(text)
    elif path.suffix == ".py":
        compile(text, path.name, "exec")
    elif text.startswith("---\n"):
        yaml.safe_load(text.split("\n---\n", 1)[0].removeprefix("---\n"))


@pytest.mark.parametrize("ids", [("a.b", "a_b"), ("../x", ".hidden"), ("a#1", "a")])
@settings(max_examples=examples(1, 3))
@given(TEXTS, TEXTS)
def test_documents_and_shards_give_back_every_text_and_id(
    empty_template: Path, ids: tuple[str, str], text: str, thought: str
) -> None:
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        shutil.copytree(empty_template, folder / "warehouse")
        with Warehouse(folder / "warehouse") as opened:
            opened.write([_renamed(item, ids) for item in hostile(text, thought)])
            export(opened, "atif", folder / "atif")
            export(opened, "web_dataset", folder / "shards")
            steps = {item.trajectory_id: len(item.steps) for item in opened.read(Trajectory)}
        for path in (folder / "atif" / "train").glob("*/trajectory.json"):
            document = atif.Trajectory.model_validate_json(path.read_text("utf-8"))
            first, *others = document.steps
            assert isinstance(first.message, list) and first.message[0].text == text
            assert [(step.message, step.reasoning_content) for step in others] == [
                (text, thought)
            ] * steps.pop(document.trajectory_id or "")
        samples: dict[str, dict[str, bytes]] = {}
        with tarfile.open(folder / "shards" / "train-00000.tar") as shard:
            for member in shard:
                key, _, ending = member.name.partition(".")
                read = shard.extractfile(member)
                assert read is not None and ending not in samples.setdefault(key, {})
                samples[key][ending] = read.read()
    assert not set(ids) & set(steps)
    read_back = [json.loads(sample["json"]) for sample in samples.values()]
    assert all(sample["png"].startswith(b"\x89PNG") for sample in samples.values())
    assert len({record["id"] for record in read_back}) == len(samples) == 10
    assert all(text in record["question"] for record in read_back)


def _renamed(item: Record, ids: tuple[str, str]) -> Record:
    """The record with other ids for both recordings."""

    def told(value: object) -> object:
        if isinstance(value, str):
            return value.replace("trajectory-1", ids[0]).replace("trajectory-2", ids[1])
        if isinstance(value, dict):
            return {key: told(part) for key, part in value.items()}
        return type(value)(map(told, value)) if isinstance(value, (list, tuple)) else value

    if isinstance(item, Trajectory):
        return item.model_copy(update={"trajectory_id": told(item.trajectory_id)})
    values = item.model_dump()
    return item if told(values) == values else type(item).model_validate(told(values))


@pytest.mark.slow
@settings(max_examples=examples(1, 3))
@given(TEXTS, TEXTS)
def test_every_file_of_every_export_is_whole(empty_template: Path, text: str, thought: str) -> None:
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        shutil.copytree(empty_template, folder / "warehouse")
        with Warehouse(folder / "warehouse") as opened:
            opened.write(hostile(text, thought))
            for name, granularity in product(EXPORTS.built_in(), ("step", "trajectory")):
                note(f"{name}, {granularity}")
                out = folder / "exports" / name / granularity
                options = ExportOptions.model_validate({"granularity": granularity})
                try:
                    export(opened, name, out, options=options)
                except ExportRefusedError as error:
                    assert "othing was written" in str(error) or "only those can be written back" in str(
                        error
                    )
                for path in out.rglob("*"):
                    if path.is_file():
                        check_file(path)


@pytest.mark.parametrize(("granularity", "window"), [("step", 0), ("trajectory", 0), ("trajectory", 1)])
@settings(max_examples=examples(1, 6))
@given(TEXTS, TEXTS)
def test_conversations_hold_one_action_a_turn_and_come_back(
    empty_template: Path, granularity: str, window: int, text: str, thought: str
) -> None:
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        shutil.copytree(empty_template, folder / "warehouse")
        with Warehouse(folder / "warehouse") as opened:
            opened.write(hostile(text, thought))
            export(
                opened,
                "sharegpt",
                folder / "out",
                options=ExportOptions.model_validate({"granularity": granularity, "window": window}),
            )
            first = {item.trajectory_id: len(item.steps) for item in opened.read(Trajectory)}
        for record in json.loads((folder / "out" / "train.json").read_text("utf-8")):
            for turn in record["conversations"]:
                marks = re.findall("<(?:image|video|audio)>", turn["value"])
                assert marks == (["<image>"] if turn["from"] == "human" else [])
                if turn["from"] == "gpt":
                    calls = [line for line in turn["value"].split("\n") if line.startswith("Action: ")]
                    assert len(calls) == 1
        back = [item for item in read_import("sharegpt", folder / "out") if isinstance(item, Trajectory)]
    assert {item.trajectory_id.split(":")[1]: len(item.steps) for item in back}.items() <= first.items()
    assert len(back) == 2
