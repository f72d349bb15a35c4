"""Conditions of evaluation functions: calls to checks, with arguments in terms of the parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from taskloom.evaluators_api.state.templates import steady_path
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.prompts.inputs import Performance
from taskloom.prompts.shown_effects import CheckAsked
from taskloom.taskgraph.records.effect import ANY
from taskloom.taskgraph.text_folding import fold_text

_FORMS: dict[str, tuple[Callable[[str], str], str]] = {
    "whole": (lambda value: value, "{}"),
    "name": (lambda value: value.split("/")[-1], '{}.split("/")[-1]'),
    "stem": (lambda value: value.split("/")[-1].split(".")[0], '{}.split("/")[-1].split(".")[0]'),
    "folder": (lambda value: "/".join(value.split("/")[:-1]), '"/".join({}.split("/")[:-1])'),
    "hyphens": (lambda value: value.replace(" ", "-").lower(), '{}.replace(" ", "-").lower()'),
    "line": (lambda value: value.split("\n")[0], '{}.split("\\n")[0]'),
    "lower": (lambda value: value.lower(), "{}.lower()"),
    "underscores": (lambda value: value.replace(" ", "_").lower(), '{}.replace(" ", "_").lower()'),
}
"""Forms of a value: as it is, the last part of a path, that part without suffix, the folder, a slug, the
first line, in lower case, a slug with underscores."""
_MOST_OWN_WORDS = 4
_APPLICATIONS = ".applications/"
_PATHS = ("file_path", "source", "target")
"""Arguments of checks that name a file."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A text made of literals and of parameters in some form, equal for all parameter sets that it fits."""

    parts: tuple[tuple[str, str], ...]
    """Pairs of form and parameter name; for a literal, an empty form and its text; for a `call`, Python."""

    @property
    def parameters(self) -> frozenset[str]:
        """Names of its parameters."""
        return frozenset(name for form, name in self.parts if form in _FORMS)

    @property
    def depends(self) -> bool:
        """Whether it depends on the performance, by a parameter or the result of a call."""
        return any(form for form, _ in self.parts)

    def source(self) -> str:
        """The Python expression.

        >>> Expression((("", "title: "), ("whole", "title"))).source()
        "'title: ' + title"
        """
        return " + ".join(_part_source(form, name) for form, name in self.parts) or repr("")


def _part_source(form: str, name: str) -> str:
    if form in _FORMS:
        return _FORMS[form][1].format(name)
    return name if form == "call" else repr(name)


def generalise(text: str, parameters: Mapping[str, str]) -> Expression:
    r"""`text` with every whole occurrence of a parameter's value, or of a form of it, replaced by the
    parameter.

    Longer values come first; parts of words are left alone.

    >>> generalise("title: Shopping list", {"title": "Shopping list"}).source()
    "'title: ' + title"
    >>> generalise("Downloads/a.csv - Editor", {"path": "Documents/a.csv"}).source()
    '\'Downloads/\' + path.split("/")[-1] + \' - Editor\''
    """
    known: dict[str, tuple[str, str]] = {}
    for form, (make, _) in _FORMS.items():
        for name, value in parameters.items():
            formed = make(value)
            if formed and (form == "whole" or len(formed) > 2):
                known.setdefault(formed, (form, name))
    if not known:
        return Expression((("", text),))
    pattern = "|".join(
        (r"(?<!\w)" if value[0].isalnum() else "")
        + re.escape(value)
        + (r"(?!\w)" if value[-1].isalnum() else "")
        for value in sorted(known, key=len, reverse=True)
    )
    pieces = enumerate(re.split(f"({pattern})", text))  # every second one is a value
    parts = tuple(known[piece] if number % 2 else ("", piece) for number, piece in pieces if piece)
    return Expression(parts or (("", text),))


@dataclass(frozen=True, slots=True)
class Call:
    """A call to a check."""

    check: str
    arguments: tuple[tuple[str, Value], ...] = ()

    def source(self) -> str:
        """The call as Python."""
        return f"{self.check}({', '.join(f'{name}={_source(value)}' for name, value in self.arguments)})"


Value = Expression | Call | bool | int | tuple[Expression, ...] | tuple[tuple[str, Expression], ...]
"""An argument: a text, the answer of another call, a number, a list of texts, or texts by name."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One call to a check, or its negation."""

    call: Call
    complaint: Expression
    """The function's message if the condition is not met."""
    negated: bool = False
    """Whether the check must be False."""
    before: Call | None = None
    """The same call for the state at the start, which must give the opposite: together, one effect."""

    @property
    def parameters(self) -> frozenset[str]:
        """Parameters in the texts among its arguments."""
        texts = [value for _, value in self.call.arguments if isinstance(value, Expression)]
        return frozenset[str]().union(*(text.parameters for text in texts))

    @property
    def count(self) -> int:
        """Number of calls that it makes on correct work, including those in its arguments."""
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


_CLIPBOARD = Expression((("call", "get_clipboard_text(at_start=True)"),))

RawValue = str | list[str] | Mapping[str, str] | Value
"""An argument whose texts may still be those of one performance."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Turns texts of one performance into expressions and conditions."""

    performance: Performance

    def text(self, value: str) -> Expression:
        """`value` in terms of the parameters, or as the former content of the clipboard."""
        held = self.performance.effects.clipboard_before
        if held.strip() and fold_text(held) == fold_text(value):
            return _CLIPBOARD
        return generalise(value, self.performance.parameters)

    def is_holder(self, folder: str) -> bool:
        """Whether a folder is added or removed together with its content."""
        essential = self.performance.effects.essential
        return any(item.container.startswith(f"{folder}/") for item in essential)

    def file(self, path: str) -> Expression:
        """The path of a file; if an application generated it, the path of the file with a certain record."""
        known = self.text(path)
        made_up = ANY in steady_path(path)
        if not path.startswith(_APPLICATIONS) or not (known.parameters or made_up):
            return known
        for field, value, at_start in self._identities(path):
            if made_up or value.parameters <= known.parameters:
                start = ", at_start=True" if at_start else ""
                call = f"get_record_path(fields={{{field!r}: {value.source()}}}{start})"
                return Expression((("call", call),))
        return known

    def _identities(self, path: str) -> Iterator[tuple[str, Expression, bool]]:
        """Fields of a file's records whose value is exactly a parameter, unchanged ones first, and whether
        that is the value at the start, as for removed files and changed fields."""
        effects = self.performance.effects
        file_effects = [item for item in effects.essential if item.container == path]
        is_removed = any(item.kind == "removed" and not item.address for item in file_effects)
        changed = (item for item in file_effects if item.kind == "changed" and item.address)
        former = {item.address[-1]: item.before for item in changed}
        for record in (item for item in effects.records if item.file_path == path):
            for field, value in sorted(record.fields.items(), key=lambda item: item[0] in former):
                expression = self.text(former.get(field) or value)
                if [form for form, _ in expression.parts] == ["whole"]:
                    yield field, expression, is_removed or field in former

    def linked(self, file_path: str, field: str, known_by: str, known: str) -> Expression:
        """A field of the record whose field `known_by` was `known` at the start."""
        path, name = self.file(file_path).source(), self.text(known).source()
        fields = f"{{{known_by!r}: {name}}}"
        call = f"get_linked_field(file_path={path}, field={field!r}, fields={fields}, at_start=True)"
        return Expression((("call", call),))

    def extended(self, file_path: str, field: str, known: tuple[str, str], addition: str) -> Expression:
        """The field, at the start, of the record identified by `known`, with `addition` on further lines."""
        start = self.linked(file_path, field, *known)
        return Expression((*start.parts, ("", "\n"), *self.text(addition).parts))

    def is_given(self, value: str) -> bool:
        """Whether `value` comes from the parameters, the clipboard or the words of the instruction."""
        in_instruction = not value.strip() or has_phrase(value, self.performance.instruction)
        return in_instruction or self.text(value).depends

    def is_expected(self, text: str) -> bool:
        """Whether a text has few words beyond the instruction; a longer one could be worded differently."""
        literals = "".join(words for form, words in self.text(text).parts if not form)
        expected = set(fold_text(self.performance.instruction).split())
        return len([word for word in fold_text(literals).split() if word not in expected]) <= _MOST_OWN_WORDS

    def call(self, check: str, **arguments: RawValue) -> Call:
        """A call to `check`, with texts in terms of the parameters and paths as from `file`."""
        return Call(check, tuple((name, self._value(name, value)) for name, value in arguments.items()))

    def condition(self, check: str, complaint: str, **arguments: RawValue) -> Condition:
        """The condition that this call to `check` returns True."""
        return Condition(self.call(check, **arguments), self.text(complaint))

    def condition_of(self, recorded: CheckAsked, complaint: str) -> Condition:
        """The condition of a recorded check that is True for this performance."""
        return Condition(self._call(recorded), self.text(complaint))

    def _call(self, recorded: CheckAsked) -> Call:
        arguments = recorded.arguments.items()
        return Call(recorded.check, tuple((name, self._argument(name, value)) for name, value in arguments))

    def _argument(self, name: str, value: object) -> Value:
        if isinstance(value, tuple):
            calls = [self._call(part) for part in value]
            together = Expression(tuple(("call", call.source()) for call in calls))
            return calls[0] if len(calls) == 1 else together
        if name == "change":
            return Expression((("", str(value)),))
        return self._value(name, cast("RawValue", value))

    def _value(self, name: str, value: RawValue) -> Value:
        if isinstance(value, str):
            return self.file(value) if name in _PATHS else self.text(value)
        if isinstance(value, Mapping):
            return tuple((field, self.text(text)) for field, text in sorted(value.items()))
        return tuple(map(self.text, value)) if isinstance(value, list) else value
