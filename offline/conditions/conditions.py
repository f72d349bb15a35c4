"""Conditions of evaluation functions: calls of checks whose arguments are written in terms of the
parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taskloom.offline.conditions.expressions import Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a check."""

    check: str
    """Name of the check."""
    arguments: tuple[tuple[str, Value], ...] = ()
    """Its arguments by name."""

    @property
    def parameters(self) -> frozenset[str]:
        """Parameters it depends on."""
        return frozenset[str]().union(*(_parameters(value) for _, value in self.arguments))

    @property
    def count(self) -> int:
        """How many calls it makes, those in its arguments included."""
        return 1 + sum(_calls(value) for _, value in self.arguments)

    def source(self) -> str:
        """The call as Python."""
        return f"{self.check}({', '.join(f'{name}={_source(value)}' for name, value in self.arguments)})"

    def frozen(self, parameters: Mapping[str, str]) -> Call:
        """The call of one parameter set only."""
        return Call(self.check, tuple((name, _frozen(value, parameters)) for name, value in self.arguments))


Value = Expression | Call | bool | int | None | tuple[Expression, ...] | tuple[tuple[str, Expression], ...]
"""What an argument may be: a text, the answer of another call, a number, a list of texts, or texts by
name."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One call of a check, or its negation."""

    call: Call
    """The call."""
    complaint: Expression
    """What a function says that finds it unmet."""
    negated: bool = False
    """Whether the check must say no."""
    before: Call | None = None
    """The same asked about the start, where it must have said the opposite: both are one effect."""

    @property
    def parameters(self) -> frozenset[str]:
        """Parameters it depends on."""
        return self.call.parameters

    @property
    def count(self) -> int:
        """How many calls it makes on right work."""
        return self.call.count + (0 if self.before is None else self.before.count)

    def source(self) -> str:
        """The condition as Python."""
        now = f"not {self.call.source()}" if self.negated else self.call.source()
        if self.before is None:
            return now
        return f"{now} and {'' if self.negated else 'not '}{self.before.source()}"

    def frozen(self, parameters: Mapping[str, str]) -> Condition:
        """The condition of one parameter set only."""
        before = None if self.before is None else self.before.frozen(parameters)
        return Condition(self.call.frozen(parameters), self.complaint, self.negated, before)


def _calls(value: Value) -> int:
    if isinstance(value, Call):
        return value.count
    if isinstance(value, Expression):
        return sum(form == "call" for form, _ in value.parts)
    if isinstance(value, tuple):
        return sum(_calls(item[1] if isinstance(item, tuple) else item) for item in value)
    return 0


def _source(value: Value) -> str:
    if isinstance(value, Expression | Call):
        return value.source()
    if isinstance(value, tuple):
        parts = [
            f"{item[0]!r}: {item[1].source()}" if isinstance(item, tuple) else item.source() for item in value
        ]
        named = any(isinstance(item, tuple) for item in value)
        return f"{{{', '.join(parts)}}}" if named else f"[{', '.join(parts)}]"
    return repr(value)


def _parameters(value: Value) -> frozenset[str]:
    if isinstance(value, Expression | Call):
        return value.parameters
    if isinstance(value, tuple):
        texts = [item[1] if isinstance(item, tuple) else item for item in value]
        return frozenset[str]().union(*(text.parameters for text in texts))
    return frozenset()


def _frozen(value: Value, parameters: Mapping[str, str]) -> Value:
    if isinstance(value, Expression | Call):
        return value.frozen(parameters)
    if isinstance(value, tuple):
        return tuple(  # type: ignore[return-value]
            (item[0], item[1].frozen(parameters)) if isinstance(item, tuple) else item.frozen(parameters)
            for item in value
        )
    return value
