"""Every format with every way to ask for sets: the export says which task is in which, and each of its files
can be read."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.exporting.exporting import LEFT_OUT, MANIFEST, SETS, Manifest
from taskloom.warehouse.lookup import EXPORTS
from taskloom.warehouse.reviews import new_review, parse_rule
from taskloom.warehouse.sets.key_table import LEAK_KINDS, SPLITS
from taskloom.warehouse.sets.selection import Selection, SetRequest, select
from taskloom.warehouse.store import Warehouse
from tests.shared_work import examples
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import
from tests.warehouse.samples import export, records

_FREE = SetRequest(shares={"train": 0.6, "test": 0.4}, may_share=LEAK_KINDS)
_REQUESTS = st.none() | st.builds(
    SetRequest,
    shares=st.sampled_from([{"train": 0.6, "test": 0.4}, {"train": 0.5, "validation": 0.25, "test": 0.25}]),
    may_share=st.sampled_from([(), ("template", "value"), ("template", "value", "intent"), LEAK_KINDS]),
)
_SELECTIONS = st.builds(
    Selection,
    capability=st.sampled_from(["", "parallel_planning", "long_range_planning"]),
    accepted=st.none() | st.just(parse_rule("any:1")),
    seed=st.integers(0, 2),
)
_WORDS = (
    "amber",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "inlet",
    "jetty",
    "knoll",
    "ledge",
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory, empty_template: Path) -> Iterator[Warehouse]:
    """Twelve tasks with recordings, some accepted by people, and those of three other collections."""
    place = tmp_path_factory.mktemp("formats")
    shutil.copytree(empty_template, place / "warehouse")
    with Warehouse(place / "warehouse") as writer:
        writer.write(records())
        task = next(item for item in records() if isinstance(item, Task))
        copies = [
            task.model_copy(
                update={
                    "task_id": f"copy-{word}",
                    "intent_id": f"intent-{number // 2}",
                    "intent": f"Goal {number // 2}",
                    "instruction": " ".join(f"{word}{place}" for place in range(9)),
                }
            )
            for number, word in enumerate(_WORDS)
        ]
        writer.write(copies)
        writer.write(
            [
                new_review(
                    item.task_id, item.instruction, "a person", "accepted" if number % 3 else "withdrawn"
                )
                for number, item in enumerate(copies)
            ]
        )
        for name in ("osworld", "crab"):
            run_import(writer, name, getattr(foreign, name)(place / name), skip_broken=True)
    with Warehouse(place / "warehouse", read_only=True) as opened:
        yield opened


@pytest.mark.parametrize("name", EXPORTS.built_in())
def test_a_plain_export_with_sets_is_written(pool: Warehouse, tmp_path: Path, name: str) -> None:
    where = "provenance_stage = 'import'" if name == "osworld" else "true"
    manifest = export(pool, name, tmp_path / "out", Selection(where=where), sets=_FREE)

    _is_whole(pool, tmp_path / "out", manifest, _FREE)


@pytest.mark.parametrize("name", EXPORTS.built_in())
@settings(max_examples=examples(2, 25))
@given(_REQUESTS, _SELECTIONS)
@pytest.mark.slow
def test_every_combination_is_whole_or_refused_in_words(
    pool: Warehouse, name: str, request: SetRequest | None, selection: Selection
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        try:
            manifest = export(pool, name, out, selection, sets=request)
        except ExportRefusedError as error:
            assert "othing was written" in str(error) or "--leak" in str(error)
            assert not list(Path(folder).iterdir())
            return
        _is_whole(pool, out, manifest, request)


def _is_whole(pool: Warehouse, folder: Path, manifest: Manifest, request: SetRequest | None) -> None:
    stored = Manifest.model_validate_json((folder / MANIFEST).read_text("utf-8"))
    assert stored == manifest
    wanted = set(select(pool, manifest.selection))
    if request is None:
        assert not (folder / SETS).exists() and not manifest.splits
    else:
        _tells_every_task(folder, manifest, wanted)
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(found) == {*manifest.files, MANIFEST}
    for name, digest in manifest.files.items():
        assert hashlib.sha256(found[name].read_bytes()).hexdigest() == digest
        text = _read(found[name])
        place = next((split for split in SPLITS if name.startswith(split) or f"/{split}-" in name), None)
        if manifest.splits and place is not None:
            others = {task for split, tasks in manifest.splits.items() if split != place for task in tasks}
            assert not [task for task in others if f'"{task}"' in text], name


def _tells_every_task(folder: Path, manifest: Manifest, wanted: set[str]) -> None:
    sets: Mapping[str, list[str]] = json.loads((folder / SETS).read_text("utf-8"))
    assert {name: tuple(tasks) for name, tasks in sets.items()} == manifest.splits
    inside = [task for tasks in sets.values() for task in tasks]
    left_out = []
    if (folder / LEFT_OUT).exists():
        left_out = [json.loads(line) for line in (folder / LEFT_OUT).read_text("utf-8").splitlines()]
    assert manifest.leakage is not None and not manifest.leakage.leaks
    removed = [leak.value for leak in manifest.leakage.removed]
    assert sorted([*inside, *removed, *(line["task_id"] for line in left_out)]) == sorted(wanted)
    assert all(line["reason"] for line in left_out)


def _read(path: Path) -> str:
    """Read a file as what its name says it is; its text, or that of its rows, where it has one."""
    if path.suffix == ".parquet":
        rows = pyarrow.parquet.read_table(path)
        names = [name for name in ("task_id",) if name in rows.column_names]
        return json.dumps(rows.select(names).to_pylist())
    if path.suffix in (".png", ".jpg"):
        Image.open(path).verify()
        return ""
    if ".tar" in path.suffixes:
        content = pa.input_stream(str(path), compression="zstd" if path.suffix == ".zst" else None)
        with content, tarfile.open(fileobj=io.BytesIO(content.read())) as packed:
            return "".join(
                io.TextIOWrapper(file, "utf-8").read()
                for member in packed.getmembers()
                if member.name.endswith(".json") and (file := packed.extractfile(member)) is not None
            )
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
    elif path.suffix == ".json":
        json.loads(text)
    elif path.suffix == ".toml":
        tomllib.loads(text)
    elif path.suffix == ".py":
        compile(text, path.name, "exec")
    return text


@pytest.mark.parametrize("name", ["verifiers", "harbor", "cua_gym"])
def test_what_a_format_refuses_is_known_before_sets_are_drawn(
    pool: Warehouse, tmp_path: Path, name: str
) -> None:
    manifest = export(pool, name, tmp_path / "out", sets=_FREE)

    refused = {item.item_id: item.reason for item in manifest.outcome.refused}
    inside = {task for tasks in manifest.splits.values() for task in tasks}
    assert refused and inside and not inside & set(refused)
    assert len(inside) == sum(manifest.outcome.counts.values())
    left_out = [json.loads(line) for line in (tmp_path / "out" / LEFT_OUT).read_text("utf-8").splitlines()]
    assert set(refused) <= {line["task_id"] for line in left_out}
