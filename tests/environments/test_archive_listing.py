"""Archives are listed; what is no archive, broken or a bomb is not."""

import hashlib
import io
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence.file_snapshot import HEADER, list_members
from taskloom.evaluators_api.state.reading import read


def _zip(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("folder/", "")
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def _tar(mode: str, **members: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_a_zip_archive_is_a_table_of_its_files() -> None:
    listing = list_members(_zip(b="two", a="one"))
    assert listing is not None and listing.splitlines()[0] == HEADER
    name, tree = read("all.zip", listing)
    assert name == "delimited"
    assert [row.name for row in tree.children[1].children] == ["a", "b"]
    size = tree.at(("rows", "a", "size"))
    assert size is not None and size.value == "3"
    checksum = tree.at(("rows", "a", "checksum"))
    assert checksum is not None and checksum.value == hashlib.sha256(b"one").hexdigest()
    assert list_members(_zip(b="two", a="One")) != listing


def test_a_member_that_cannot_be_unpacked_is_known_by_what_the_archive_states() -> None:
    whole = _zip(a="one")
    damaged = whole.replace(b"one", b"two")
    listing = list_members(damaged)
    assert listing is not None and listing.splitlines()[1] == f"a\t3\t{zlib.crc32(b'one'):08x}"
    locked = bytearray(whole)
    locked[whole.rindex(b"PK\x01\x02") + 8] |= 1
    assert list_members(bytes(locked)) == listing


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_archive_is_a_table_of_its_files(mode: str) -> None:
    listing = list_members(_tar(mode, a="one"))
    assert listing is not None and listing.splitlines()[1].startswith("a\t3\t")


def test_odd_names_stay_on_their_line() -> None:
    listing = list_members(_zip(**{'a\t"b"\n': "x"}))
    assert listing is not None
    assert [row.name for row in read("a.zip", listing)[1].children[1].children] == ['a\t"b"\n']


def test_a_bomb_is_read_up_to_a_limit() -> None:
    assert list_members(_tar("w:gz", a="x", b="0" * 40_000_000)) is not None


@given(st.binary(max_size=200), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b", b"BZh"]))
def test_what_is_no_archive_is_none(content: bytes, magic: bytes) -> None:
    assert list_members(magic + content) is None
