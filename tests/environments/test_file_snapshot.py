from __future__ import annotations

import hashlib
import os
import sqlite3
import zipfile
from pathlib import Path

import pytest

from taskloom.environments.evidence.file_snapshot import TEXT_LIMIT, FileSnapshots
from taskloom.taskgraph.records.evidence import FileState


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "Documents").mkdir(parents=True)
    return folder


def states(snapshots: FileSnapshots) -> dict[str, FileState]:
    return {state.path: state for state in snapshots.take()[0]}


def test_files_are_known_by_path_hash_and_text(home: Path) -> None:
    (home / "Documents" / "é.txt").write_text("über\n")
    (home / "Documents" / "picture.png").write_bytes(b"\x89PNG\0\1")
    files, directories = FileSnapshots(home).take()
    assert directories == ("Documents",)
    assert [file.path for file in files] == ["Documents/picture.png", "Documents/é.txt"]
    text = files[1]
    assert text.text == "über\n" and text.size == 6
    assert text.sha256 == hashlib.sha256("über\n".encode()).hexdigest()
    assert files[0].text is None and not files[0].truncated


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


def test_noise_is_left_out_and_the_states_of_applications_are_not(home: Path) -> None:
    for path in (
        ".bash_history",
        ".config/x",
        ".applications/wiki/note.txt",
        "Documents/.git/HEAD",
        "Documents/.hidden",
    ):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("x")
    assert list(states(FileSnapshots(home))) == [".applications/wiki/note.txt", "Documents/.hidden"]


def test_the_path_of_the_home_is_written_as_a_tilde(home: Path) -> None:
    (home / "settings").write_text(f"root={home}/Documents")
    assert states(FileSnapshots(home))["settings"].text == "root=~/Documents"


def test_links_are_not_followed(home: Path) -> None:
    (home / "outside").symlink_to("/etc")
    (home / "file").symlink_to("/etc/hostname")
    files, directories = FileSnapshots(home).take()
    assert not files and directories == ("Documents",)


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
    assert list(found) == ["live.db"], "the log beside a database is part of it"
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
