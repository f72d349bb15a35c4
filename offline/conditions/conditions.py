"""Conditions of evaluation functions: calls of checks whose arguments are written in terms of the
parameters."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from taskloom.offline.conditions.expressions import Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a check."""

    check: str
    arguments: tuple[tuple[str, Value], ...] = ()

    def source(self) -> str:
        """The call as Python."""
        return f"{self.check}({', '.join(f'{name}={_source(value)}' for name, value in self.arguments)})"


Value = Expression | Call | bool | int | tuple[Expression, ...] | tuple[tuple[str, Expression], ...]
"""What an argument may be: a text, the answer of another call, a number, a list of texts, or texts by
name."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One call of a check, or its negation."""

    call: Call
    complaint: Expression
    """What a function says that finds it unmet."""
    negated: bool = False
    """Whether the check must say no."""
    before: Call | None = None
    """The same asked about the start, where it must have said the opposite: both are one effect."""

    @property
    def parameters(self) -> frozenset[str]:
        """Parameters in the texts that it asks for."""
        texts = [value for _, value in self.call.arguments if isinstance(value, Expression)]
        return frozenset[str]().union(*(text.parameters for text in texts))

    @property
    def count(self) -> int:
        """How many calls it makes on right work, those in its arguments included."""
        nodes = ast.walk(ast.parse(self.source()))
        return sum(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) for node in nodes)

    def source(self) -> str:
        """The condition as Python."""
        now = f"not {self.call.source()}" if self.negated else self.call.source()
        if self.before is None:
            return now
        return f"{now} and {'' if self.negated else 'not '}{self.before.source()}"


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
