"""Archives are compared with what was packed, whole and by its place."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence.file_snapshot import list_members
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.offline.conditions.conditions import Terms
from taskloom.offline.conditions.state import lasting_conditions
from taskloom.prompts.inputs import Performance
from taskloom.prompts.shown_effects import Origin, ShownEffects
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.taskgraph.records.evidence import Evidence, FileState
from tests.evaluators_api.test_state_checks import ask

NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)
HELD = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.binary(min_size=1, max_size=9)
)


def stored(path: str, content: bytes) -> FileState:
    digest = hashlib.sha256(content).hexdigest()
    listing = list_members(content)
    return FileState(
        path=path,
        size=len(content),
        sha256=digest,
        text=content.decode("latin-1") if listing is None else listing[0],
        content="text" if listing is None else "archive",
        truncated=listing is not None and not listing[1],
    )


def packed(path: str, held: Mapping[str, bytes]) -> FileState:
    written = io.BytesIO()
    if path.endswith(".zip"):
        with zipfile.ZipFile(written, "w") as archive:
            for name, content in held.items():
                archive.writestr(name, content)
        return stored(path, written.getvalue())
    with tarfile.open(fileobj=written, mode="w:gz") as tar:
        for name, content in held.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stored(path, written.getvalue())


def below(folder: str, held: Mapping[str, bytes]) -> list[FileState]:
    return [stored(f"{folder}/{name}", content) for name, content in held.items()]


def held(*files: FileState, folders: tuple[str, ...] = ()) -> Evidence:
    return Evidence(step=0, files=files, directories=folders)


FILES = {"a.txt": b"one", "deep/b.txt": b"two"}
FOLDER = held(*below("Documents/all", FILES))


@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
@pytest.mark.parametrize(
    ("members", "right"),
    [
        (FILES, True),
        ({f"all/{name}": content for name, content in FILES.items()}, True),
        ({"a.txt": b"one"}, False),
        ({**FILES, "c.txt": b"three"}, False),
        ({"a.txt": b"one", "deep/b.txt": b"one"}, False),
        ({"a.txt": b"one", "b.txt": b"two"}, False),
        ({f"Documents/all/{name}": content for name, content in FILES.items()}, True),
        ({"x/a.txt": b"one", "y/deep/b.txt": b"two"}, False),
    ],
)
def test_a_packed_folder_is_all_of_it_and_no_more(
    ending: str, members: dict[str, bytes], right: bool
) -> None:
    end = held(*FOLDER.files, packed(f"all.{ending}", members))
    asked = {"source": "Documents/all", "target": f"all.{ending}"}
    assert ask(end, "check_packed", FOLDER, **asked) is right


@given(HELD.filter(lambda found: not any(f"{one}/" in other for one in found for other in found)))
def test_what_is_unpacked_as_it_was_is_found(files: dict[str, bytes]) -> None:
    start = held(packed("all.zip", files))
    end = held(*start.files, *below("out", files))
    assert ask(end, "check_unpacked", start, source="all.zip", target="out") is bool(files)
    for name in files:
        assert ask(end, "check_unpacked", start, source="all.zip", target=f"out/{name}")
        fewer = held(*start.files, *below("out", {key: value for key, value in files.items() if key != name}))
        assert not ask(fewer, "check_unpacked", start, source="all.zip", target="out")


@pytest.mark.parametrize(
    ("path", "content"), [("out/a.txt", b"two"), ("out/b.txt", b"one"), ("out/c.txt", b"three")]
)
def test_other_files_are_not_out_of_the_archive(path: str, content: bytes) -> None:
    start = held(packed("all.zip", {"a.txt": b"one", "b.txt": b"two"}))
    end = held(*start.files, stored(path, content))
    assert not ask(end, "check_unpacked", start, source="all.zip", target=path)
    assert not ask(end, "check_unpacked", start, source="all.zip", target="out")


@given(st.text(max_size=40))
def test_any_text_may_stand_where_an_archive_is_meant(text: str) -> None:
    start = held(stored("all.zip", text.encode()), *below("out", FILES))
    assert not ask(start, "check_unpacked", start, source="all.zip", target="out")
    assert not ask(start, "check_packed", start, source="out", target="all.zip")


def test_a_text_that_reads_like_the_list_of_an_archive_is_none() -> None:
    listing = next(file.text for file in held(packed("all.zip", FILES)).files) or ""
    end = held(*FOLDER.files, stored("all.zip", listing.encode()))
    assert not ask(end, "check_packed", FOLDER, source="Documents/all", target="all.zip")


def test_of_an_archive_that_is_not_read_to_its_end_nothing_is_said() -> None:
    big = packed("all.tar.gz", {**FILES, "more": bytes(40_000_000)})
    with pytest.raises(CheckUnavailableError):
        ask(held(*FOLDER.files, big), "check_packed", FOLDER, source="Documents/all", target="all.tar.gz")


def asked(start: Evidence, end: Evidence, changed: list[str], parameters: dict[str, str]) -> set[str]:
    found = origins(start, end, changed, set(parameters.values()))
    performance = Performance.model_construct(
        parameters=parameters, effects=ShownEffects(origins=found), instruction="Do it."
    )
    return {item.call.source() for item in lasting_conditions(Terms(performance))}


def test_where_packed_and_unpacked_files_come_from_is_found_and_asked_for() -> None:
    end = held(*FOLDER.files, packed("all.zip", FILES), folders=("Documents/all",))
    calls = asked(FOLDER, end, ["all.zip"], {"old": "Documents/all", "new": "all.zip"})
    assert "check_packed(source=old, target=new)" in calls
    start = held(packed("all.zip", FILES))
    end = held(*start.files, *below("out", FILES), folders=("out", "out/deep"))
    calls = asked(
        start, end, ["out/a.txt", "out/deep/b.txt"], {"old": "all.zip", "new": "out", "one": "out/a.txt"}
    )
    assert calls >= {f"check_unpacked(source=old, target={name})" for name in ("new", "one")}


def test_a_file_that_is_two_files_one_behind_the_other_is_asked_for_as_that() -> None:
    start = held(stored("a.txt", b"one line\n"), stored("b.txt", b"another\n"))
    end = held(*start.files, stored("c.txt", b"one line\nanother\n"))
    calls = asked(start, end, ["c.txt"], {"first": "a.txt", "second": "b.txt", "new": "c.txt"})
    (call,) = (item for item in calls if item.startswith("check_file_text"))
    assert call == (
        "check_file_text(file_path=new, text=get_file_text(file_path=first, at_start=True)"
        " + get_file_text(file_path=second, at_start=True))"
    )
    found = origins(start, end, ["c.txt"], {"a.txt", "b.txt", "c.txt"})
    assert Origin(kind="joined", source="a.txt", source_at="b.txt", target="c.txt") in found


def test_members_that_evidence_did_not_read_are_not_answered_about() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("note.txt", b"Buy milk")
    file = stored("note.txt", b"Buy milk")
    end, start = (Evidence(step=0, files=held) for held in ((stored("a.zip", written.getvalue()),), (file,)))
    with pytest.raises(CheckUnavailableError, match=r"What note.txt in a.zip holds was not read"):
        ask(end, "check_packed", start, source="note.txt", target="a.zip")
    text = (end.files[0].text or "").rpartition("\t")[0]
    for checksum in ("", file.sha256[:32]):
        cut = end.files[0].model_copy(update={"text": f"{text}\t{checksum}\n"})
        assert not ask(held(cut), "check_packed", start, source="note.txt", target="a.zip"), "another digest"
