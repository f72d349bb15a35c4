"""The checks by name: what each reads, and how a call from generated code reaches it."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Literal

import evaluators_api.checks
from evaluators_api.errors import CheckMisusedError
from evaluators_api.evidence.evidence_view import EvidenceView
from evaluators_api.evidence.ocr import TextReader

Answer = bool | str
"""What a check may answer."""
Reads = Literal["inputs", "screen", "files", "clipboard"]
"""Part of the evidence that a check reads; `inputs` is the route taken, the rest is state."""

LONGEST_ARGUMENT = 10_000
"""Characters in one argument of a check."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a check is asked about: evidence, and the means to read its picture."""

    view: EvidenceView
    reader: TextReader


@dataclass(frozen=True, slots=True)
class Check:
    """One check that generated code may call."""

    name: str
    """Name in generated code."""
    function: Callable[..., Answer]
    """Takes the scene, then the arguments."""
    reads: Reads
    """Part of the evidence it reads."""
    in_paper: bool
    """Whether it is one of the paper's eleven."""
    parameters: tuple[inspect.Parameter, ...]
    """Parameters as generated code sees them."""
    returns: Literal["bool", "str"]
    """Type of the answer."""

    @property
    def reads_route(self) -> bool:
        """Whether it judges the route taken rather than the state reached (App. B.2, method section 4)."""
        return self.reads == "inputs"

    def ask(
        self, scene: Scene, positional: tuple[object, ...], named: Mapping[str, object]
    ) -> tuple[dict[str, str], Answer]:
        """Bind the arguments of a call, ask, and return the arguments as text with the answer.

        Raises:
            CheckMisusedError: the arguments do not fit; the message is safe to show to generated code.
            CheckUnavailableError: the check has no means to answer here.
        """
        arguments = self._bind(positional, named)
        answer = self.function(scene, **arguments)
        return {name: str(value) for name, value in arguments.items()}, answer

    def _bind(self, positional: tuple[object, ...], named: Mapping[str, object]) -> dict[str, object]:
        names = [parameter.name for parameter in self.parameters]
        if len(positional) > len(names):
            raise CheckMisusedError(
                f"{self.name} takes {', '.join(names) or 'no arguments'}; {len(positional)} values were given."
            )
        given = dict(zip(names, positional, strict=False))
        for name, value in named.items():
            if name not in names or name in given:
                raise CheckMisusedError(
                    f"{self.name} has no argument {name[:60]!r} left; it takes {', '.join(names) or 'none'}."
                )
            given[name] = value
        for parameter in self.parameters:
            if parameter.name not in given:
                if parameter.default is inspect.Parameter.empty:
                    raise CheckMisusedError(f"{self.name} needs the argument {parameter.name!r}.")
                continue
            value, wanted = given[parameter.name], str(parameter.annotation)
            if type(value).__name__ != wanted:
                raise CheckMisusedError(
                    f"{self.name} takes {wanted} as {parameter.name!r}, not {type(value).__name__}."
                )
            if isinstance(value, str) and len(value) > LONGEST_ARGUMENT:
                raise CheckMisusedError(
                    f"{self.name} takes at most {LONGEST_ARGUMENT} characters as {parameter.name!r}."
                )
        return given


_registered: dict[str, Check] = {}


def check(
    reads: Reads, *, in_paper: bool = False
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Register a function as a check that reads `reads`; its first parameter is the scene."""

    def register(function: Callable[..., Answer]) -> Callable[..., Answer]:
        signature = inspect.signature(function)
        name = function.__name__
        _registered[name] = Check(
            name=name,
            function=function,
            reads=reads,
            in_paper=in_paper,
            parameters=tuple(signature.parameters.values())[1:],
            returns="str" if signature.return_annotation == "str" else "bool",
        )
        return function

    return register


@cache
def checks() -> Mapping[str, Check]:
    """Every check of every module in this folder by name: the paper's eleven first, then those beyond it."""
    for module in pkgutil.iter_modules(evaluators_api.checks.__path__):
        import_module(f"evaluators_api.checks.{module.name}")
    ordered = sorted(_registered.values(), key=lambda item: not item.in_paper)
    return {item.name: item for item in ordered}
