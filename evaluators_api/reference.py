"""Descriptions of the checks for the Code LLM and the type checker, generated from the code."""

import inspect
from collections.abc import Iterable
from functools import cache
from textwrap import indent

from taskloom.evaluators_api.checks.declaration import Check, Content, checks
from taskloom.evaluators_api.evidence.sandbox_paths import PATH_FUNCTIONS
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT, Reads
from taskloom.taskgraph.text_folding import COMPARING

_UNDECLARED_EXCEPTIONS = {
    "FileExistsError": "OSError",
    "FileNotFoundError": "OSError",
    "ImportError": "Exception",
    "IsADirectoryError": "OSError",
    "ModuleNotFoundError": "ImportError",
    "NotADirectoryError": "OSError",
    "PermissionError": "OSError",
    "UnboundLocalError": "NameError",
    "UnicodeDecodeError": "ValueError",
    "UnicodeEncodeError": "ValueError",
}
"""Exceptions of the interpreter that its type checker does not know, with their base classes."""
_UNDECLARED_FUNCTIONS = ("filter", "format", "map")
"""Functions of the interpreter that its type checker does not know."""
_RULES = f"""\
Define `{ENTRY_POINT}` at the top level, with exactly the parameters of the subtask as arguments, each a `str`. Return
`EvalResult(success, message, progress)`: success is True only if every condition holds, message says which condition failed,
progress is the share of conditions that hold (0 to 1). EvalResult is a namedtuple with these three fields; define it or
just use it.
Use plain functions, if, for, while, try, comprehensions and f-strings. You may import collections, dataclasses, datetime,
functools, itertools, json, math, re, typing, and from os.path only the functions on names (basename, dirname, join, split,
splitext, normpath). No other imports, no inheritance, no yield, no async, no files, no reflection. Do not redefine a check.
Generator expressions must be used up where they stand (any, all, sum, join, next); build a list to keep one.
Prefer checks of state (files, controls, clipboard) to checks of the route (clicks, keys): another agent may get there
another way, and a click alone proves nothing. Ask for values that belong together with check_record or, of a new record,
with check_record_added, and for whole texts with check_file_text, check_clipboard_text or check_copied: a text that merely
occurs somewhere proves little. What else was changed is no matter of the function."""  # noqa: E501

_ARGUMENTS = """\
A check says True if what it is about is so; what is got is '' where there is no such file, record or field. Arguments that mean the
same everywhere: `file_path`, `path`, `folder`, `source` and `target` are paths relative to the home folder, such as
'Documents/report.csv' ('~/Documents/report.csv' and absolute paths of the home folder are understood as well). A `source` counts as
it was at the start, even if it is gone now. `within` (`source_within`, `target_within`) is where in the file, such as the name of a
database's table; '' for anywhere. `fields` are names of fields or columns with the values that one record has. `field` and `part`
are names from the outside in, joined by '/', such as 'settings/theme'; an object in a list is named by its id or by its position
from 0, a row by its first column, below 'rows'. `at_start` asks about the start instead of now."""  # noqa: E501


@cache
def checks_reference(about: frozenset[Reads | Content] | None = None) -> str:
    """Signatures and docstrings of the checks and the rules of the language, as text for the Code LLM.

    With `about`, only checks that read, and are about, what it names are added to the paper's eleven.
    """
    paper = [item for item in checks().values() if item.in_paper]
    others = [item for item in checks().values() if not item.in_paper]
    if about is not None:
        others = [item for item in others if item.reads in about and item.of in ("", *about)]
    further = 'Checks beyond the paper\'s eleven. "The start" is the state before the subtask was begun.'
    return "\n\n".join((_RULES, COMPARING, _ARGUMENTS, _entries(paper), further, _entries(others)))


@cache
def checks_overview() -> tuple[str, ...]:
    """One line per check: its name and what it checks."""
    described = ((item.name, inspect.getdoc(item.function) or "") for item in checks().values())
    return tuple(f"{name}: {text.partition(chr(10))[0]}" for name, text in described)


@cache
def type_stubs() -> str:
    """Declarations of the checks and of the functions on paths for the type checker inside the sandbox."""
    exceptions = [f"class {name}({parent}): ..." for name, parent in _UNDECLARED_EXCEPTIONS.items()]
    built_in = [f"def {name}(*values): ..." for name in _UNDECLARED_FUNCTIONS]
    paths = [f"def {name}({declared}: ..." for name, declared in PATH_FUNCTIONS.items()]
    declared = [f"{signature(item)}: ..." for item in checks().values()]
    return "\n".join((*declared, *exceptions, *built_in, *paths, ""))


def signature(item: Check) -> str:
    """The `def` line of a check as generated code sees it, without the colon."""
    parameters = (
        f"{parameter.name}: {parameter.annotation}"
        + ("" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}")
        for parameter in item.parameters
    )
    return f"def {item.name}({', '.join(parameters)}) -> {item.returns}"


def _entries(items: Iterable[Check]) -> str:
    documented = ((signature(item), indent(inspect.getdoc(item.function) or "", "    ")) for item in items)
    entries = (f'{line}:\n    """{text.strip()}\n    """' for line, text in documented)
    return "```python\n" + "\n\n".join(entries) + "\n```"
