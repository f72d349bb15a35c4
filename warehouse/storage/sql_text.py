"""Texts inside SQL, for the statements of DuckDB that take no parameters."""

from __future__ import annotations


def quoted(text: str) -> str:
    """`text` as it stands between single quotes.

    >>> quoted("the user's folder")
    "the user''s folder"
    """
    return text.replace("'", "''")
