"""Conditions of evaluation functions: calls of checks with arguments in terms of the parameters."""

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
"""How a value shows up elsewhere: as it is, as a path's last part, without ending, as a folder, as a slug, by
its first line."""
_MOST_OWN_WORDS = 4
_APPLICATIONS = ".applications/"
_PATHS = ("file_path", "source", "target")
"""Arguments of checks that name a file."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A text made of literals and of parameters in some form, equal for all parameter sets it fits."""

    parts: tuple[tuple[str, str], ...]
    """Pairs of form and parameter name; the form of a literal is empty and its text stands in place of the
    name; a `call` is Python as it stands."""

    @property
    def parameters(self) -> frozenset[str]:
        """Names of the parameters in it."""
        return frozenset(name for form, name in self.parts if form in _FORMS)

    @property
    def depends(self) -> bool:
        """Whether it says something else for another performance: a parameter, or what a call gets."""
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
            made = make(value)
            if made and (form == "whole" or len(made) > 2):
                known.setdefault(made, (form, name))
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
    """A call of a check."""

    check: str
    arguments: tuple[tuple[str, Value], ...] = ()

    def source(self) -> str:
        """The call as Python."""
        return f"{self.check}({', '.join(f'{name}={_source(value)}' for name, value in self.arguments)})"


Value = Expression | Call | bool | int | tuple[Expression, ...] | tuple[tuple[str, Expression], ...]
"""What an argument may be: a text, another call's answer, a number, a list of texts, or texts by name."""


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


_CLIPBOARD = Expression((("call", "get_clipboard_text(at_start=True)"),))

Given = str | list[str] | Mapping[str, str] | Value
"""An argument, whose texts may be those of one performance."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Turns texts of one performance into expressions, and conditions made of them."""

    performance: Performance

    def text(self, value: str) -> Expression:
        """`value` in terms of the parameters, or as what the clipboard held."""
        held = self.performance.effects.clipboard_before
        if held.strip() and fold_text(held) == fold_text(value):
            return _CLIPBOARD
        return generalise(value, self.performance.parameters)

    def is_holder(self, folder: str) -> bool:
        """Whether a folder comes or goes with what is in it."""
        essential = self.performance.effects.essential
        return any(item.container.startswith(f"{folder}/") for item in essential)

    def file(self, path: str) -> Expression:
        """The path of a file; if an application made it from what it holds, the file that holds that."""
        known = self.text(path)
        made_up = ANY in steady_path(path)
        if not path.startswith(_APPLICATIONS) or not (known.parameters or made_up):
            return known
        for field, named, at_start in self._identities(path):
            if made_up or named.parameters <= known.parameters:
                start = ", at_start=True" if at_start else ""
                call = f"get_record_path(fields={{{field!r}: {named.source()}}}{start})"
                return Expression((("call", call),))
        return known

    def _identities(self, path: str) -> Iterator[tuple[str, Expression, bool]]:
        """Fields of the records in a file that a parameter gives as a whole, and whether they had them at the
        start: of what is gone, and of fields that have another value now; those that stayed come first."""
        effects = self.performance.effects
        own = [item for item in effects.essential if item.container == path]
        gone = any(item.kind == "removed" and not item.address for item in own)
        former = {item.address[-1]: item.before for item in own if item.kind == "changed" and item.address}
        for record in (item for item in effects.records if item.file_path == path):
            for field, value in sorted(record.fields.items(), key=lambda item: item[0] in former):
                named = self.text(former.get(field) or value)
                if [form for form, _ in named.parts] == ["whole"]:
                    yield field, named, gone or field in former

    def linked(self, file_path: str, field: str, known_by: str, known: str) -> Expression:
        """The field of the record that was known as `known` at the start."""
        path, name = self.file(file_path).source(), self.text(known).source()
        fields = f"{{{known_by!r}: {name}}}"
        call = f"get_linked_field(file_path={path}, field={field!r}, fields={fields}, at_start=True)"
        return Expression((("call", call),))

    def grown(self, file_path: str, field: str, known: tuple[str, str], behind: str) -> Expression:
        """The field, at the start, of the record known by another one, with `behind` in further lines."""
        start = self.linked(file_path, field, *known)
        return Expression((*start.parts, ("", "\n"), *self.text(behind).parts))

    def said(self, value: str) -> bool:
        """Whether `value` comes from the parameters, the clipboard or the words of the instruction."""
        told = not value.strip() or has_phrase(value, self.performance.instruction)
        return told or self.text(value).depends

    def plain(self, text: str) -> bool:
        """Whether a text says hardly more than the instruction; what says more could be worded otherwise."""
        own = "".join(words for form, words in self.text(text).parts if not form)
        asked = set(fold_text(self.performance.instruction).split())
        return len([word for word in fold_text(own).split() if word not in asked]) <= _MOST_OWN_WORDS

    def call(self, check: str, **given: Given) -> Call:
        """A call of `check`: texts among its arguments in terms of the parameters, paths as `file` has."""
        return Call(check, tuple((name, self._value(name, value)) for name, value in given.items()))

    def condition(self, check: str, complaint: str, **given: Given) -> Condition:
        """That `check`, called so, says yes."""
        return Condition(self.call(check, **given), self.text(complaint))

    def asked(self, asked: CheckAsked, complaint: str) -> Condition:
        """That a check says yes of one performance that is asked so."""
        return Condition(self._call(asked), self.text(complaint))

    def _call(self, asked: CheckAsked) -> Call:
        given = asked.arguments.items()
        return Call(asked.check, tuple((name, self._given(name, item)) for name, item in given))

    def _given(self, name: str, given: object) -> Value:
        if isinstance(given, tuple):
            calls = [self._call(part) for part in given]
            together = Expression(tuple(("call", call.source()) for call in calls))
            return calls[0] if len(calls) == 1 else together
        if name == "change":
            return Expression((("", str(given)),))
        return self._value(name, cast("Given", given))

    def _value(self, name: str, given: Given) -> Value:
        if isinstance(given, str):
            return self.file(given) if name in _PATHS else self.text(given)
        if isinstance(given, Mapping):
            return tuple((field, self.text(value)) for field, value in sorted(given.items()))
        return tuple(map(self.text, given)) if isinstance(given, list) else given
