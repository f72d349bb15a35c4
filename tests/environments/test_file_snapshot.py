from __future__ import annotations

import gzip
import hashlib
import os
import sqlite3
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from taskloom.environments.evidence import file_snapshot
from taskloom.environments.evidence.file_snapshot import TEXT_LIMIT, FileSnapshots
from taskloom.taskgraph.records.evidence import FileState


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "Documents").mkdir(parents=True)
    return folder


def states(snapshots: FileSnapshots) -> dict[str, FileState]:
    return {state.path: state for state in snapshots.take().files}


def test_files_are_known_by_path_hash_and_text(home: Path) -> None:
    (home / "Documents" / "é.txt").write_text("über\n")
    (home / "Documents" / "picture.png").write_bytes(b"\x89PNG\0\1")
    found = FileSnapshots(home).take()
    files = found.files
    assert found.directories == ("Documents",) and not found.unseen
    assert [file.path for file in files] == ["Documents/picture.png", "Documents/é.txt"]
    text = files[1]
    assert text.text == "über\n" and text.size == 6
    assert text.sha256 == hashlib.sha256("über\n".encode()).hexdigest()
    assert files[0].text is None and not files[0].truncated


def test_what_a_text_was_made_of_is_told_whatever_the_file_is_called(home: Path) -> None:
    Image.new("RGB", (4, 4)).save(home / "drawn.png")
    (home / "typed.png").write_text(states(FileSnapshots(home))["drawn.png"].text or "")
    (home / "packed").write_bytes(gzip.compress(b"text"))
    (home / "bytes").write_bytes(b"\0\1")
    sqlite3.connect(home / "kept.txt").execute("CREATE TABLE a(b)").connection.close()
    with zipfile.ZipFile(home / "members", "w") as archive:
        archive.writestr("a", "b")
    found = states(FileSnapshots(home))
    assert found["drawn.png"].text == found["typed.png"].text
    assert {path: file.content for path, file in found.items()} == {
        "bytes": "",
        "drawn.png": "picture",
        "kept.txt": "database",
        "members": "archive",
        "packed": "packed",
        "typed.png": "text",
    }


def test_long_texts_are_cut_at_the_limit_even_inside_a_character(home: Path) -> None:
    (home / "long.txt").write_text("x" * (TEXT_LIMIT - 1) + "é" * 100)
    (home / "bad.txt").write_bytes(b"latin \xe9 text")
    found = states(FileSnapshots(home))
    assert found["long.txt"].truncated and len(found["long.txt"].text or "") <= TEXT_LIMIT
    assert found["bad.txt"].text is None


def test_changes_show_and_unchanged_files_are_not_read_again(home: Path) -> None:
    (home / "a.txt").write_text("one")
    (home / "b.txt").write_text("two")
    snapshots = FileSnapshots(home)
    before = states(snapshots)
    (home / "a.txt").write_text("three")
    (home / "b.txt").chmod(0)
    after = states(snapshots)
    assert after["a.txt"].text == "three"
    assert after["b.txt"] is before["b.txt"]
    (home / "a.txt").unlink()
    assert list(states(snapshots)) == ["b.txt"]


def test_a_change_of_equal_size_is_seen(home: Path) -> None:
    file = home / "a.txt"
    file.write_text("one")
    snapshots = FileSnapshots(home)
    states(snapshots)
    status = file.stat()
    file.write_text("two")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert states(snapshots)["a.txt"].text == "two"


def test_nothing_is_left_out_by_its_name(home: Path) -> None:
    paths = [".applications/wiki/note.txt", ".bash_history", ".config/x", "Documents/.git/HEAD"]
    paths += ["Documents/.hidden", "Documents/a-journal", "Documents/a-wal", "node_modules/a/a.txt"]
    for path in paths:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("x")
    assert sorted(states(FileSnapshots(home))) == sorted(paths)


def test_a_folder_with_too_many_files_is_named_and_hides_no_other_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_snapshot, "MOST_FILES", 5)
    (home / "full" / "below").mkdir(parents=True)
    for number in range(6):
        (home / "full" / f"{number}.txt").write_text("x")
    (home / "Documents" / "final.txt").write_text("done")
    found = FileSnapshots(home).take()
    assert [file.path for file in found.files] == ["Documents/final.txt"]
    assert found.unseen == ("full",)


def test_a_file_that_cannot_be_read_is_unseen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> FileState:
        raise PermissionError

    (home / "a.txt").write_text("x")
    monkeypatch.setattr(FileSnapshots, "_read", denied)
    found = FileSnapshots(home).take()
    assert not found.files and found.unseen == ("a.txt",)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=60),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    st.sampled_from(["NFC", "NFD"]),
)
def test_a_text_is_the_same_in_every_encoding_that_can_be_told(
    text: str, encoding: str, form: Literal["NFC", "NFD"]
) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "a.txt").write_bytes(normalize(form, text).encode(encoding))
        (state,) = FileSnapshots(Path(folder)).take().files
    assert state.text == normalize("NFC", text) and not state.truncated


def test_names_are_kept_in_one_normal_form(home: Path) -> None:
    (home / normalize("NFD", "Café.txt")).write_text("x")
    assert list(states(FileSnapshots(home))) == ["Café.txt"]
    (home / "Café.txt").write_text("y")
    assert FileSnapshots(home).take().unseen == ("Café.txt",)


def test_a_name_that_is_no_text_is_shown_with_signs_in_its_place(home: Path) -> None:
    (home / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    assert list(states(FileSnapshots(home))) == ["caf\ufffd.txt"]
    (home / os.fsdecode(b"caf\xe8.txt")).write_text("y")
    found = FileSnapshots(home).take()
    assert not found.files and found.unseen == ("caf\ufffd.txt",)


def test_pipes_are_there_and_never_opened(home: Path) -> None:
    os.mkfifo(home / "a.db")
    (home / "a.db-wal").write_text("x")
    found = states(FileSnapshots(home))
    assert found["a.db"].text is None and found["a.db-wal"].text == "x"


def test_the_path_of_the_home_is_written_as_a_tilde(home: Path) -> None:
    (home / "settings").write_text(f"root={home}/Documents")
    assert states(FileSnapshots(home))["settings"].text == "root=~/Documents"


def test_links_are_not_followed(home: Path) -> None:
    (home / "outside").symlink_to("/etc")
    (home / "file").symlink_to("/etc/hostname")
    first = FileSnapshots(home).take()
    assert first.directories == ("Documents",)
    assert [(file.path, file.text) for file in first.files] == [("file", None), ("outside", None)]
    (home / "outside").unlink()
    (home / "outside").symlink_to("/tmp")
    assert [file.path for file in set(FileSnapshots(home).take().files) - set(first.files)] == ["outside"]


def test_a_database_is_shown_as_sql_with_the_newest_rows_first(home: Path) -> None:
    path = home / "notes.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE note (title TEXT, body TEXT, rank REAL, picture BLOB)")
    connection.execute("CREATE TABLE 'odd \"name' (x)")
    connection.execute("CREATE TABLE pair (a INTEGER PRIMARY KEY, b TEXT) WITHOUT ROWID")
    connection.execute("INSERT INTO note VALUES ('old', 'it''s', 1.5, x'00ff')")
    connection.execute("INSERT INTO note VALUES ('new', ?, NULL, NULL)", ("long " * 200,))
    connection.execute("INSERT INTO 'odd \"name' VALUES (7)")
    connection.execute("INSERT INTO pair VALUES (1, 'b')")
    connection.commit()
    connection.close()
    text = states(FileSnapshots(home))["notes.db"].text or ""
    assert text.index("'new'") < text.index("'old', 'it''s', 1.5, X'00ff'")
    assert 'INSERT INTO "odd ""name" VALUES(7);' in text and "INSERT INTO \"pair\" VALUES(1, 'b');" in text


def test_rows_still_in_the_write_ahead_log_are_shown(home: Path) -> None:
    path = home / "live.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE note (title TEXT)")
    connection.commit()
    snapshots = FileSnapshots(home)
    assert "fresh" not in (states(snapshots)["live.db"].text or "")
    connection.execute("INSERT INTO note VALUES ('fresh')")
    connection.commit()
    found = states(snapshots)
    assert "fresh" in (found["live.db"].text or "")
    assert {path for path, state in found.items() if state.part_of == "live.db"} == set(found) - {"live.db"}
    connection.close()


def test_every_table_gets_its_share_of_the_text(home: Path) -> None:
    connection = sqlite3.connect(home / "big.db")
    connection.execute("CREATE TABLE a_large (x TEXT)")
    connection.executemany("INSERT INTO a_large VALUES (?)", [("y" * 390,) for _ in range(500)])
    connection.execute("CREATE TABLE z_small (x TEXT)")
    connection.execute("INSERT INTO z_small VALUES ('wanted')")
    connection.commit()
    connection.close()
    state = states(FileSnapshots(home))["big.db"]
    assert "'wanted'" in (state.text or "") and len(state.text or "") <= TEXT_LIMIT


def test_a_broken_database_is_a_file_without_text(home: Path) -> None:
    (home / "broken.db").write_bytes(b"SQLite format 3\0" + b"\1" * 2000)
    assert states(FileSnapshots(home))["broken.db"].text is None


def test_an_archive_is_shown_by_its_members(home: Path) -> None:
    with zipfile.ZipFile(home / "all.zip", "w") as archive:
        archive.writestr("a.txt", "one")
    assert "a.txt\t3\t" in (states(FileSnapshots(home))["all.zip"].text or "")
