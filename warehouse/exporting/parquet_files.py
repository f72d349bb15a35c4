"""Parquet files of a dataset folder, written as their rows come: a row group for each set is in memory."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet

IMAGE: Final = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""How `datasets` keeps pictures."""
_MOST_ROWS: Final = 200_000
_MOST_BYTES: Final = 500_000_000


class ParquetFiles:
    """Files `<configuration>/<set>-<number>.parquet`; a further one begins where one gets too large."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, dict[str, list[str]]] = {}
        """Files by configuration and set, relative to the folder."""
        self.rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """Rows by configuration and set."""
        self._folder = folder
        self._open: dict[tuple[str, str], tuple[pyarrow.parquet.ParquetWriter, Path, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer, _, _ in self._open.values():
            writer.close()

    def add(self, configuration: str, split: str, table: pa.Table, schema: pa.Schema) -> None:
        """Append rows as a row group of their own."""
        key = (configuration, split)
        writer, path, held = self._open.pop(key, (None, Path(), 0))
        if writer is not None and (held + table.num_rows > _MOST_ROWS or path.stat().st_size > _MOST_BYTES):
            writer.close()
            writer = None
        if writer is None:
            names = self.files.setdefault(configuration, {}).setdefault(split, [])
            path = self._folder / configuration / f"{split}-{len(names):05}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            described = {"huggingface": json.dumps({"info": {"features": features_of(schema)}})}
            writer = pyarrow.parquet.ParquetWriter(
                path, schema.with_metadata(described), compression="zstd", compression_level=3
            )
            names.append(path.relative_to(self._folder).as_posix())
            held = 0
        writer.write_table(table.cast(schema))
        self._open[key] = (writer, path, held + table.num_rows)
        self.rows[configuration][split] += table.num_rows


def features_of(schema: pa.Schema) -> dict[str, object]:
    """The `datasets` features of an Arrow schema; structs of `bytes` and `path` are images."""
    return {item.name: _feature(item.type) for item in schema}


def _feature(arrow: pa.DataType) -> object:
    if arrow == IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(arrow):
        return {"feature": _feature(arrow.value_type), "_type": "List"}
    if pa.types.is_struct(arrow):
        return {item.name: _feature(item.type) for item in arrow}
    if pa.types.is_decimal(arrow):
        return {"dtype": f"decimal128({arrow.precision}, {arrow.scale})", "_type": "Value"}
    names = {"string": "string", "int64": "int64", "double": "float64", "bool": "bool", "binary": "binary"}
    return {"dtype": names[str(arrow)], "_type": "Value"}
