"""Parsing of generated source, quietly, in any number of threads."""

import ast
import warnings
from contextlib import suppress
from threading import Lock

_lock = Lock()
_ATTEMPTS = 20


def parse_source(code: str) -> ast.Module:
    """The syntax tree of `code`; what the parser only warns of is kept off the terminal.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it holds characters that no source may hold.
        RecursionError: it is nested too deeply; so does MemoryError.
    """
    with _lock, warnings.catch_warnings():  # the filters belong to the process, so one thread at a time
        warnings.simplefilter("ignore")
        for _ in range(_ATTEMPTS):
            # Before Python 3.11.8 and 3.12.2 all threads share one count of the depth, and a library that
            # parses meanwhile upsets it (python/cpython issue 106905); every attempt starts its own count.
            with suppress(SystemError):
                return ast.parse(code)
        return ast.parse(code)
