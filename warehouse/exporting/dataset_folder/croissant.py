"""Croissant metadata (MLCommons, version 1.0) of a dataset folder: `croissant.json`.

Every Parquet file is a file object with its hash, and a record set with the columns that the format can
describe: texts, numbers, truth values, lists of these, and pictures. Nested columns are in the files and on
the card only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet

from taskloom.warehouse.exporting.file_hashes import hash_of

NAME: Final = "croissant.json"
"""Name of the file."""
_PLAIN: Final = """
    citeAs column extract field fileObject fileProperty fileSet format includes jsonPath key md5 parentField
    path recordSet references regex repeated replace separator source subField transform
"""
"""Terms of the format that are called there as they are here."""
_CONTEXT: Final[dict[str, object]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{name: f"cr:{name}" for name in _PLAIN.split()},
    "isLiveDataset": "cr:isLiveDataset",
    "samplingRate": "cr:samplingRate",
    "equivalentProperty": "cr:equivalentProperty",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}


def croissant(
    folder: Path,
    files: Mapping[str, Mapping[str, Sequence[str]]],
    about: Mapping[str, str],
    meanings: Mapping[str, Mapping[str, str]],
) -> dict[str, object]:
    """The metadata of the dataset in `folder`.

    Args:
        folder: where its files lie.
        files: Parquet files by configuration and set, relative to the folder.
        about: `name`, `description`, `license`, `version`, `datePublished` and `url`.
        meanings: what the columns of each configuration mean.
    """
    names = [(config, name) for config, found in files.items() for each in found.values() for name in each]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "creator": {"@type": "sc:Organization", "name": "taskloom"},
        "citeAs": f"{about['name']}, version {about['version']}, made with taskloom.",
        **about,
        "distribution": [_file(folder, name) for _, name in names],
        "recordSet": [_records(folder, config, name, meanings.get(config, {})) for config, name in names],
    }


def _file(folder: Path, name: str) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{(folder / name).stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": hash_of(folder / name),
    }


def _records(folder: Path, config: str, name: str, meanings: Mapping[str, str]) -> dict[str, object]:
    schema = pyarrow.parquet.read_schema(folder / name)
    own = name.removesuffix(".parquet")
    fields = []
    for column in schema:
        described = _described(column.type)
        if described is not None:
            fields.append(
                {
                    "@type": "cr:Field",
                    "@id": f"{own}/{column.name}",
                    "name": column.name,
                    "description": meanings.get(column.name, ""),
                    "dataType": described[0],
                    **({"repeated": True} if described[1] == "list" else {}),
                    "source": {
                        "fileObject": {"@id": name},
                        "extract": {"column": column.name},
                        **({"transform": {"jsonPath": "bytes"}} if described[1] == "picture" else {}),
                    },
                }
            )
    return {"@type": "cr:RecordSet", "@id": own, "name": own, "description": config, "field": fields}


def _described(arrow: pa.DataType) -> tuple[str, str] | None:
    """Data type and form of a column; None where the format has no words for it."""
    if pa.types.is_struct(arrow):
        names = {item.name for item in arrow}
        return ("sc:ImageObject", "picture") if names == {"bytes", "path"} else None
    if pa.types.is_list(arrow):
        inner = _described(arrow.value_type)
        return (inner[0], "list") if inner is not None and inner[1] == "value" else None
    kinds = {
        "string": "sc:Text",
        "int64": "sc:Integer",
        "double": "sc:Float",
        "bool": "sc:Boolean",
        "timestamp[us, tz=UTC]": "sc:DateTime",
    }
    return (kinds[str(arrow)], "value") if str(arrow) in kinds else None
