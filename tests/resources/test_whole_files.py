"""Files that are there whole, or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from taskloom.resources.whole_files import write_whole


def test_threads_that_write_one_file_leave_one_of_their_contents_and_nothing_else(tmp_path: Path) -> None:
    contents = [str(number) * 10_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_whole(tmp_path / "notes.txt", content), contents * 5))
    assert [item.name for item in tmp_path.iterdir()] == ["notes.txt"]
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") in contents


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write_whole(tmp_path / "folder", b"x")
    assert [item.name for item in tmp_path.iterdir()] == ["folder"]
