"""Reads TFRecord files of `tf.train.Example` messages, packed with gzip or not, without TensorFlow."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from taskloom.warehouse.errors import ImportRefusedError

Feature = list[bytes] | list[int] | list[float]
"""The values of a feature."""
_MOST_BYTES = 2**30


def examples(path: Path, shown: str) -> Iterator[dict[str, Feature]]:
    """The features of every message of a file, by name.

    Raises:
        ImportRefusedError: the file ends in the middle of a record, or holds no such messages.
    """
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        file = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        number = 0
        while record := _record(file, shown, number):
            try:
                yield dict(_features(record))
            except (LookupError, ValueError, struct.error) as error:
                raise ImportRefusedError(
                    shown, f"record {number}", f"is not a tf.train.Example: {error}"
                ) from None
            number += 1


def _record(file: BinaryIO, shown: str, number: int) -> bytes:
    try:
        head = file.read(12)
        if not head:
            return b""
        size = struct.unpack("<Q", head[:8])[0] if len(head) == 12 else _MOST_BYTES
        data = file.read(size) if size < _MOST_BYTES else b""
        if len(data) != size or len(file.read(4)) != 4:
            raise ImportRefusedError(shown, f"record {number}", "ends too early, or is not a TFRecord")
    except (OSError, EOFError, zlib.error) as error:
        raise ImportRefusedError(shown, f"record {number}", f"cannot be unpacked: {error}") from None
    return data


def _features(message: bytes) -> Iterator[tuple[str, Feature]]:
    for _, features in _fields(message):
        for _, entry in _fields(_bytes(features)):
            parts = dict(_fields(_bytes(entry)))
            yield _bytes(parts[1]).decode("utf-8"), _values(_bytes(parts.get(2, b"")))


def _values(feature: bytes) -> Feature:
    for kind, held in _fields(feature):
        members = [value for number, value in _fields(_bytes(held)) if number == 1]
        if kind == 1:
            return [_bytes(value) for value in members]
        if kind == 2:
            packed = b"".join(
                value if isinstance(value, bytes) else struct.pack("<I", value) for value in members
            )
            return [float(value) for (value,) in struct.iter_unpack("<f", packed)]
        numbers: list[int] = []
        for value in members:
            numbers += [value] if isinstance(value, int) else list(_varints(value))
        return [value - 2**64 if value >= 2**63 else value for value in numbers]
    return cast(list[bytes], [])


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a protocol buffer message, as numbers and values."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
        elif wire == 2:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError("a field is longer than its message")
            yield number, message[at : at + size]
            at += size
        elif wire == 5:
            yield number, struct.unpack("<I", message[at : at + 4])[0]
            at += 4
        else:
            raise ValueError(f"a field has the wire type {wire}")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _varints(packed: bytes) -> Iterator[int]:
    at = 0
    while at < len(packed):
        value, at = _varint(packed, at)
        yield value


def _bytes(value: bytes | int) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a field holds a number where it must hold a message")
    return value
