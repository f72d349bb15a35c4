"""Parsing of generated source, quietly."""

from __future__ import annotations

import ast
import warnings
from threading import Lock

_lock = Lock()


def parse_source(code: str) -> ast.Module:
    """The syntax tree of `code`; what the parser only warns of is kept off the terminal.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it holds characters that no source may hold.
        RecursionError: it is nested too deeply; so does MemoryError.
    """
    with _lock, warnings.catch_warnings():  # the filters belong to the process, so one thread at a time
        warnings.simplefilter("ignore")
        return ast.parse(code)
