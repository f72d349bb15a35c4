"""Parts of paths: what a worked example may say about a parameter besides its whole value."""

from collections.abc import Mapping
from pathlib import PurePosixPath

PATH_PARTS = ("_name", "_stem", "_folder")
"""Endings that make a placeholder of a worked example out of a parameter's name."""


def with_path_parts(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters, and for each of them the name, stem and folder of its value read as a path.

    A given parameter is never replaced by a part of another one.

    >>> with_path_parts({"csv_path": "Documents/sales.csv"})["csv_path_name"]
    'sales.csv'
    >>> with_path_parts({"csv_path": "Documents/sales.csv"})["csv_path_stem"]
    'sales'
    >>> with_path_parts({"csv_path": "Documents/sales.csv"})["csv_path_folder"]
    'Documents'
    """
    parts: dict[str, str] = {}
    for name, value in parameters.items():
        path = PurePosixPath(value)
        parts[f"{name}_name"] = path.name
        parts[f"{name}_stem"] = path.stem
        parts[f"{name}_folder"] = "" if str(path.parent) == "." else str(path.parent)
    return {**parts, **parameters}
