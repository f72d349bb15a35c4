"""Archives are listed; what is no archive, broken or a bomb is not."""

import bz2
import hashlib
import io
import tarfile
import tracemalloc
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence.file_snapshot import list_members
from taskloom.evaluators_api.state.reading import read
from taskloom.taskgraph.records.evidence import ARCHIVE_HEADER


def _zip(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("folder/", "")
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def _zip_of(name: str, compression: int, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def _tar(mode: str, **members: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def _listed(content: bytes) -> str:
    found = list_members(content)
    assert found is not None and found[1]
    return found[0]


def test_a_zip_archive_is_a_table_of_its_files() -> None:
    listing = _listed(_zip(b="two", a="one"))
    assert listing.startswith(ARCHIVE_HEADER)
    name, tree = read("all.zip", listing)
    assert name == "delimited"
    assert [row.name for row in tree.children[1].children] == ["a", "b"]
    size = tree.at(("rows", "a", "size"))
    assert size is not None and size.value == "3"
    checksum = tree.at(("rows", "a", "checksum"))
    assert checksum is not None and checksum.value == hashlib.sha256(b"one").hexdigest()
    assert _listed(_zip(b="two", a="One")) != listing


def test_a_member_that_cannot_be_unpacked_is_known_by_what_the_archive_states() -> None:
    whole = _zip(a="one")
    damaged = whole.replace(b"one", b"two")
    listing = _listed(damaged)
    assert listing.splitlines()[1] == f"a\t3\t{zlib.crc32(b'one'):08x}"
    locked = bytearray(whole)
    locked[whole.rindex(b"PK\x01\x02") + 8] |= 1
    assert _listed(bytes(locked)) == listing


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_archive_is_a_table_of_its_files(mode: str) -> None:
    listing = _listed(_tar(mode, a="one"))
    assert listing.splitlines()[1].startswith("a\t3\t")


def test_odd_names_stay_on_their_line() -> None:
    listing = _listed(_zip(**{'a\t"b"\n': "x"}))
    assert [row.name for row in read("a.zip", listing)[1].children[1].children] == ['a\t"b"\n']


def test_a_bomb_is_read_up_to_a_limit() -> None:
    found = list_members(_tar("w:gz", a="x", b="0" * 40_000_000, c="y"))
    digest = hashlib.sha256(b"x").hexdigest()
    assert found == (f"{ARCHIVE_HEADER}a\t1\t{digest}\n", False)


def test_a_small_bomb_in_a_zip_archive_is_not_unpacked_whole() -> None:
    content = bytearray(_zip_of("a", zipfile.ZIP_BZIP2, b"one"))
    packed, bomb = bz2.compress(b"one"), bz2.compress(bytes(50_000_000))
    content = content.replace(packed, bomb)
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 20 : entry + 24] = len(bomb).to_bytes(4, "little")
    end = content.rindex(b"PK\x05\x06")
    content[end + 16 : end + 20] = entry.to_bytes(4, "little")
    tracemalloc.start()
    listing = _listed(bytes(content))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert listing.splitlines()[1] == f"a\t3\t{zlib.crc32(b'one'):08x}"
    assert most < 5_000_000


def test_a_damaged_member_of_any_compression_is_known_by_what_the_archive_states() -> None:
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        content = bytearray(_zip_of("a", compression, b"one" * 1000))
        for place in range(33, 45):  # behind the header and the name
            content[place] ^= 0xFF
        assert _listed(bytes(content)).splitlines()[1] == f"a\t3000\t{zlib.crc32(b'one' * 1000):08x}"


def test_names_are_in_composed_unicode_as_those_of_files() -> None:
    assert _listed(_zip(**{"cafe\u0301": "x"})).splitlines()[1].startswith("caf\u00e9\t")


@given(st.binary(max_size=200), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b", b"BZh"]))
def test_what_is_no_archive_is_none(content: bytes, magic: bytes) -> None:
    assert list_members(magic + content) is None
