"""Broken and hostile collections: every importer says what is wrong, or reads what is right, and never fails
otherwise."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taskloom.resources.errors import TaskloomError
from taskloom.warehouse.importing.importing import survey_import
from taskloom.warehouse.importing.json_reading import read_settings
from taskloom.warehouse.storage.rows import batch_of
from tests.shared_work import examples
from tests.warehouse import collection_layouts as collections
from tests.warehouse import foreign

CONVERSATION: Final = [
    {
        "id": "a#1",
        "conversations": [
            {"from": "human", "value": "<image>Task: Press it."},
            {"from": "gpt", "value": "Action: click(point=[5, 5])"},
        ],
        "image": ["a.png"],
    }
]
OUTCOME: Final = {
    "outcomes": [
        {
            "case_id": "c",
            "subtask_id": "a.b",
            "function_id": "f",
            "kind": "wrong content",
            "right": False,
            "accepted": True,
        }
    ]
}


def sharegpt(folder: Path) -> None:
    foreign.write(folder, "t.json", CONVERSATION)
    collections.picture(folder, "a.png")


def labelled_outcomes(folder: Path) -> None:
    foreign.write(folder, "o.json", OUTCOME)


LAYOUTS: Final[dict[str, Callable[[Path], object]]] = {
    **{lay_out.__name__: lay_out for lay_out in collections.COLLECTIONS},
    **{lay_out.__name__: lay_out for lay_out in (foreign.osworld, foreign.crab, foreign.omnibench)},
    "sharegpt": sharegpt,
    "labelled_outcomes": labelled_outcomes,
}
DEEP: Final = 100_000
TEXTS: Final[dict[str, bytes]] = {
    "nothing": b"",
    "blank lines": b"\n\n \n",
    "cut short": b'{"id": "a", "instruction": "Ope',
    "NUL bytes": b"\0" * 64,
    "NUL in JSON": b'{"id": "a\0"}',
    "escaped NUL": b'[{"id": "a\\u0000", "task_id": "\\u0000"}]',
    "deep lists": b"[" * DEEP,
    "deep lists, closed": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "an infinite number": b'[{"task_id": 1e999}]',
    "NaN": b'{"id": NaN}',
    "Infinity": b'{"id": -Infinity}',
    "a number of 5,000 digits": b'{"id": ' + b"9" * 5000 + b"}",
    "a lone surrogate": b'{"id": "\\ud800", "task_id": "\\ud800", "instruction": "\\udfff"}',
    "a lone surrogate as a key": b'{"\\ud800": {"\\udfff": 1}}',
    "Latin-1": '{"id": "é"}'.encode("latin-1"),
    "UTF-16": '{"id": "a"}'.encode("utf-16"),
    "a mark of byte order": b'\xef\xbb\xbf[{"id": "a"}]',
    "overlong UTF-8": b'{"id": "\xc0\x80"}',
    "a key twice": b'{"id": "a", "id": "b"}',
    "a number": b"7",
    "a text": b'"x"',
    "null": b"null",
    "true": b"true",
    "an empty list": b"[]",
    "an empty object": b"{}",
    "lists in a list": b"[[[]], [null], []]",
    "values of all kinds": b'[null, true, 1, 1.5, "x", [], {}]',
    "two values": b"{} {}",
    "a comment": b"// no\n{}",
    "a zip": b"PK\x03\x04\x14\0\0\0../../etc/passwd",
    "a gzip": b"\x1f\x8b\x08\0\0\0\0\0broken",
    "values 900 deep": b'{"id": "a", "x": ' + b"[" * 900 + b"]" * 900 + b"}",
    "a program": b"#!/bin/sh\nrm -rf /\n",
}
"""Contents that replace a whole file."""
VALUES: Final[dict[str, Any]] = {
    "null": None,
    "true": True,
    "zero": 0,
    "a huge number": 10**400,
    "a negative number": -(2**70),
    "a large float": 1e308,
    "a float": 0.5,
    "no text": "",
    "blanks": " \t\n",
    "a text": "x",
    "NUL": "a\0b",
    "a lone surrogate": "\ud800",
    "control characters": "\x1b[31m\x07",
    "a path upwards": "../../../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "a very long name": "n" * 5_000,
    "an unclosed template": "{a} {{b} {c[0].__class__} %s",
    "a list": [],
    "a list of lists": [[[]]],
    "a list of anything": [None, 1, "x", {}],
    "an object": {},
    "an object of anything": {"": None, "a": [1], "\ud800": "x"},
    "JSON in a text": "[" * 3_000,
    "deep JSON in a text": "[" * DEEP + "]" * DEEP,
    "a lone surrogate in JSON in a text": '["\\ud800"]',
    "NaN in JSON in a text": "[NaN, 1e999]",
    "a huge number in JSON in a text": "[" + "9" * 400 + ", 1]",
    "a list of huge numbers": [10**400, -1e308],
    "a list of two": [1, 2],
    "half a pair of fields": {"type": "x", "task": "y"},
    "code in a text": "click(" * 3_000,
}
"""Values that replace each value of a file."""


def _texts(folder: Path) -> list[Path]:
    kinds = (".json", ".jsonl", ".txt", ".py", ".yaml", ".toml")
    return sorted(file for file in folder.rglob("*") if file.suffix in kinds)


def _survives(name: str, folder: Path) -> None:
    """An import and the rows of what was read; anything but one of our errors gets through."""
    try:
        reading = survey_import(name, folder)
        batch_of(reading.with_rejections(name)).arrow()
    except TaskloomError as error:
        assert str(error).strip()
        f"{error}{error.hint}".encode()
        return
    for item in reading.broken:
        assert item.faults
        for fault in item.faults:
            assert fault.reason
            str(fault).encode()


def _places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield at
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _places(part, (*at, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _places(part, (*at, number))


def _put(value: Any, at: tuple[str | int, ...], new: object) -> object:
    if not at:
        return new
    whole = copy.deepcopy(value)
    target = whole
    for part in at[:-1]:
        target = target[part]
    target[at[-1]] = new
    return whole


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder in the layout of every format."""
    found = {}
    for name, lay_out in LAYOUTS.items():
        found[name] = tmp_path_factory.mktemp(name)
        lay_out(found[name])
    return found


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_file_of_anything_is_refused_in_words(laid_out: dict[str, Path], name: str) -> None:
    for file in _texts(laid_out[name]):
        kept = file.read_bytes()
        for content in TEXTS.values():
            file.write_bytes(content)
            _survives(name, laid_out[name])
        file.write_bytes(kept)


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_is_no_file_is_refused_in_words(tmp_path: Path, name: str) -> None:
    LAYOUTS[name](tmp_path)
    for file in _texts(tmp_path):
        kept = file.read_bytes()
        file.unlink()
        _survives(name, tmp_path)
        file.mkdir()
        _survives(name, tmp_path)
        file.rmdir()
        for target in (file, tmp_path / "absent", Path("/proc/self/mem"), Path("/dev/null")):
            file.symlink_to(target)
            _survives(name, tmp_path)
            file.unlink()
        file.write_bytes(kept)


@pytest.mark.parametrize("name", LAYOUTS)
@settings(
    max_examples=examples(25, 50),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_value_in_any_place_is_read_or_refused_in_words(
    laid_out: dict[str, Path], name: str, data: st.DataObject
) -> None:
    folder = laid_out[name]
    kinds = (".json", ".jsonl", ".yaml")
    file = data.draw(st.sampled_from([file for file in _texts(folder) if file.suffix in kinds]))
    kept = file.read_text()
    lines = file.suffix == ".jsonl"
    if file.suffix == ".yaml":
        value: Any = read_settings(file, file.name)
    else:
        value = [json.loads(line) for line in kept.splitlines()] if lines else json.loads(kept)
    at = data.draw(st.sampled_from(list(_places(value))))
    changed = _put(value, at, VALUES[data.draw(st.sampled_from(list(VALUES)))])
    whole = (
        "\n".join(map(json.dumps, changed)) if lines and isinstance(changed, list) else json.dumps(changed)
    )
    try:
        file.write_text(whole)
        _survives(name, folder)
    finally:
        file.write_text(kept)


@pytest.mark.parametrize("name", ["cua_gym", "mind2web", "hugging_face"])
@pytest.mark.parametrize("content", [b"", b"\x1f\x8bno", b"PAR1PAR1", bytes(16), b"\xff" * 64], ids=range(5))
def test_binary_files_that_are_broken_are_refused_in_words(tmp_path: Path, name: str, content: bytes) -> None:
    file = {
        "cua_gym": "tasks.parquet",
        "mind2web": "a.parquet",
        "hugging_face": "tasks/a.parquet",
    }
    path = tmp_path / file[name]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    _survives(name, tmp_path)
    path.unlink()
    path.mkdir()
    _survives(name, tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        {"annotation_id": "a", "target_action_index": "x"},
        {"annotation_id": None},
        {"id": b"\xff", "instruction": [1], "app_type": {"a": None}},
        {"screenshot": "no picture", "annotation_id": "a", "website": "b", "confirmed_task": "c"},
        {"function": 3, "arguments": None, "trajectory_id": "t", "step": 1},
        {"function": "wait", "arguments": "[", "trajectory_id": "t", "step": 1, "screenshot": None},
    ],
    ids=range(6),
)
def test_columns_of_other_kinds_are_refused_in_words(tmp_path: Path, row: dict[str, object]) -> None:
    for name in ("tasks", "subtasks", "trajectory_steps"):
        (tmp_path / name).mkdir()
        pyarrow.parquet.write_table(pa.Table.from_pylist([row]), tmp_path / name / "a.parquet")
    pyarrow.parquet.write_table(pa.Table.from_pylist([row]), tmp_path / "tasks.parquet")
    for name in ("cua_gym", "mind2web", "hugging_face"):
        _survives(name, tmp_path)


def test_half_a_character_and_deep_nesting_are_named(tmp_path: Path) -> None:
    foreign.write(tmp_path, "a.json", '{"id": "\\ud800"}')
    foreign.write(tmp_path, "b.json", '{"id": ' + "[" * 200 + "]" * 200 + "}")
    foreign.write(tmp_path, "c.json", '{"id": "\\ud83d\\ude00"}')

    faults = [str(item.faults[0]) for item in survey_import("crab", tmp_path).broken]

    assert "\\ud800" in faults[0] and "half a character" in faults[0]
    assert "nested more than 100 deep" in faults[1]
    assert "description: is missing" in faults[2]


def test_the_command_ends_with_one_error_and_no_traceback(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    foreign.write(tmp_path, "a.json", "[" * DEEP)

    code, _, error = run("import", "crab", tmp_path, "--warehouse", tmp_path / "w")

    assert code == 2 and "nested too deeply" in error and "Traceback" not in error
