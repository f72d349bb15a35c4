"""How a check is declared (what it reads, which arguments it takes) and called by generated code; and the
registry of checks by name: those of this folder, and those that other packages declare."""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Literal, TypeVar, cast, get_args

from taskloom.evaluators_api.errors import (
    CheckDeclarationError,
    CheckMisusedError,
    CheckOverdueError,
    CheckUnavailableError,
)
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.evidence.ocr import TextReader
from taskloom.evaluators_api.evidence.sandbox_paths import LONGEST_ARGUMENT
from taskloom.resources.plugins import PluginKind, report
from taskloom.taskgraph.records.evaluation_function import CheckFacts, Reads
from taskloom.taskgraph.records.evidence import CLIPBOARD, FileState
from taskloom.taskgraph.text_folding import composed

T = TypeVar("T")
Answer = bool | str | int | float
"""What a check may answer."""
Content = Literal["", "records", "drawing"]
"""What a check is about in a file: records with fields, or a drawing; empty for any file."""
AnswerType = Literal["bool", "str", "int", "float"]
"""Name of the type of an answer."""
LONGEST_TEXT = 262_144
"""Most characters of a file that checks look at; only imported evidence may hold more."""
CHECKS: PluginKind[ModuleType] = PluginKind(
    "module of checks",
    CheckDeclarationError,
    folder="taskloom.evaluators_api.checks",
    group="taskloom.checks",
)
"""Modules that declare checks."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a check judges: evidence, and a reader for its picture."""

    view: EvidenceView
    reader: TextReader
    start_view: EvidenceView | None = None
    """The evidence at the start of the subtask, where it was kept."""
    deadline: float = math.inf
    """Latest time of the answer, by the monotonic clock."""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Paths and texts of the files, in the order of their paths, `in_time`."""
        for path, file in self.in_time(self.view.files.items()):
            if file.text is not None:
                yield path, text_of_file(file)

    def in_time(self, items: Iterable[T]) -> Iterator[T]:
        """Yield `items` until the deadline; for checks that look at many.

        Raises:
            CheckOverdueError: the deadline has passed.
        """
        for item in items:
            if time.monotonic() > self.deadline:
                raise CheckOverdueError("the time that checks may take is over")
            yield item

    @property
    def start(self) -> EvidenceView:
        """The evidence from before the first step, for checks that compare.

        Raises:
            CheckUnavailableError: it was not given, as when a folder is judged without one.
        """
        if self.start_view is None:
            raise CheckUnavailableError(
                "The state at the start of the subtask was not given, so nothing can be compared with it."
            )
        return self.start_view

    def seen(self, *, at_start: bool) -> EvidenceView:
        """The evidence from before the first step, or the last."""
        return self.start if at_start else self.view


def text_of_file(file: FileState, *, whole: bool = False) -> str:
    """The text of a file, as far as it was kept; for the clipboard, a text of any length.

    Raises:
        CheckUnavailableError: the file holds no readable text, or too long a one to look at in bounded time;
            or the `whole` text is needed and only a part of it was kept.
    """
    if whole and file.truncated:
        raise CheckUnavailableError(f"Only a part of {file.path[:200]} was kept.")
    text = file.text
    if text is None:
        raise CheckUnavailableError(f"{file.path[:200]} is not a text that could be read.")
    if len(text) > LONGEST_TEXT and file.path != CLIPBOARD:
        raise CheckUnavailableError(
            f"{file.path[:200]} holds {len(text)} characters; checks look at files of at most {LONGEST_TEXT}."
        )
    return text


@dataclass(frozen=True, slots=True)
class Check:
    """One check that generated code may call."""

    name: str
    function: Callable[..., Answer]
    """Takes the scene, then the arguments."""
    reads: Reads
    in_paper: bool
    """Whether it is one of the paper's eleven."""
    parameters: tuple[inspect.Parameter, ...]
    """Parameters as generated code sees them."""
    returns: AnswerType
    empty_allowed: bool = False
    """Whether its first argument may be empty, which then means anywhere."""
    of_source: bool = False
    """Whether it compares with what a source held at the start."""
    of: Content = ""
    """What a file must hold for the check to be useful."""

    @property
    def reads_route(self) -> bool:
        """Whether it judges the route taken rather than the state reached (App. B.2, method section 4)."""
        return self.reads == "inputs"

    def ask(
        self, scene: Scene, positional: tuple[object, ...], named: Mapping[str, object]
    ) -> tuple[dict[str, str], Answer]:
        """Bind the arguments of a call, and return them as text with the answer of the check.

        Raises:
            CheckMisusedError: the arguments do not fit; the message is safe to show to generated code.
            CheckUnavailableError: the check cannot answer here.
        """
        arguments = self._bind(positional, named)
        answer = self.function(scene, **arguments)
        return {name: str(value) for name, value in arguments.items()}, answer

    def _bind(self, positional: tuple[object, ...], named: Mapping[str, object]) -> dict[str, object]:
        try:
            bound = inspect.Signature(self.parameters).bind(*positional, **named).arguments
        except TypeError as error:
            names = ", ".join(parameter.name for parameter in self.parameters) or "no arguments"
            raise CheckMisusedError(f"{self.name} takes {names}: {str(error)[:160]}.") from None
        for parameter in self.parameters:
            if parameter.name not in bound:
                continue
            value, allowed = bound[parameter.name], str(parameter.annotation)
            if not any(_ARGUMENT_TYPES[name](value) for name in allowed.split(" | ")):
                actual = "None" if value is None else type(value).__name__
                actual += " with other things than text in it" if actual in ("list", "dict") else ""
                raise CheckMisusedError(f"{self.name} takes {allowed} as {parameter.name!r}, not {actual}.")
            if _argument_length(value) > LONGEST_ARGUMENT:
                raise CheckMisusedError(
                    f"{self.name} takes at most {LONGEST_ARGUMENT} characters as {parameter.name!r}."
                )
        return {name: _compose(value) for name, value in bound.items()}


_ARGUMENT_TYPES: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "str": lambda value: type(value) is str,
        "bool": lambda value: type(value) is bool,
        "int": lambda value: type(value) is int,
        "float": lambda value: type(value) in (int, float),
        "None": lambda value: value is None,
        "list[str]": lambda value: type(value) is list and all(type(item) is str for item in value),
        "dict[str, str]": lambda value: (
            type(value) is dict and all(type(key) is str and type(item) is str for key, item in value.items())
        ),
    }
)
"""Types that an argument of a check may have, as its annotation names them."""


def _compose(value: object) -> object:
    if isinstance(value, list):
        return list(map(composed, value))
    if isinstance(value, dict):
        return {composed(key): composed(item) for key, item in value.items()}
    return composed(value) if isinstance(value, str) else value


def _type_name(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _argument_length(value: object) -> int:
    if isinstance(value, dict):
        return sum(len(key) + len(item) + 1 for key, item in value.items())
    if isinstance(value, list):
        return sum(len(item) + 1 for item in value)
    return len(value) if isinstance(value, str) else 0


_DECLARATION_ATTRIBUTE = "declared_check"


def check(
    reads: Reads,
    *,
    in_paper: bool = False,
    empty_allowed: bool = False,
    of_source: bool = False,
    of: Content = "",
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Declare a function as a check that reads `reads`; its first parameter is the scene.

    Raises:
        CheckDeclarationError: an argument or the answer has a type that checks cannot have.
    """

    def declare(function: Callable[..., Answer]) -> Callable[..., Answer]:
        signature = inspect.signature(function)
        name = function.__name__
        own_parameters = tuple(signature.parameters.values())[1:]
        parameters = tuple(item.replace(annotation=_type_name(item.annotation)) for item in own_parameters)
        returns = _type_name(signature.return_annotation)
        if returns not in (allowed := get_args(AnswerType)):
            raise CheckDeclarationError(
                f"The check {name} answers with {returns}; it must be one of {', '.join(allowed)}."
            )
        for parameter in parameters:
            unknown = set(str(parameter.annotation).split(" | ")) - set(_ARGUMENT_TYPES)
            if unknown:
                raise CheckDeclarationError(
                    f"The check {name} takes {parameter.annotation} as {parameter.name!r}; allowed are"
                    f" {', '.join(_ARGUMENT_TYPES)}, and these joined by ' | '."
                )
        function.__dict__[_DECLARATION_ATTRIBUTE] = Check(
            name=name,
            function=function,
            reads=reads,
            in_paper=in_paper,
            parameters=parameters,
            returns=cast(AnswerType, returns),
            empty_allowed=empty_allowed,
            of_source=of_source,
            of=of,
        )
        return function

    return declare


@cache
def checks() -> Mapping[str, Check]:
    """Every check by name: the paper's eleven first, then those beyond it, module by module.

    Raises:
        CheckDeclarationError: two built-in checks have the same name; another package's check with a taken
            name is reported and left out.
    """
    built_in = CHECKS.built_in()
    by_name: dict[str, Check] = {}
    for module_name, module in sorted(CHECKS.each(), key=lambda item: item[0] not in built_in):
        for item in _checks_of(module):
            if item.name not in by_name:
                by_name[item.name] = item
                continue
            modules = sorted({item.function.__module__, by_name[item.name].function.__module__})
            problem = f"There are two checks called {item.name}: in {' and '.join(modules)}."
            if module_name in built_in:
                raise CheckDeclarationError(problem)
            report(f"{problem} The one from the package {CHECKS.package_of(module_name)} is left out.")
    return dict(sorted(by_name.items(), key=lambda item: not item[1].in_paper))


def check_facts() -> dict[str, CheckFacts]:
    """Facts about every check by name, for code that does not call checks itself."""
    return {
        name: CheckFacts(reads=item.reads, of_source=item.of_source, verdict=item.returns == "bool")
        for name, item in checks().items()
    }


def _checks_of(module: ModuleType) -> tuple[Check, ...]:
    functions = filter(inspect.isfunction, vars(module).values())
    declared = (getattr(function, _DECLARATION_ATTRIBUTE, None) for function in functions)
    return tuple(
        item for item in declared if isinstance(item, Check) and inspect.getmodule(item.function) is module
    )
