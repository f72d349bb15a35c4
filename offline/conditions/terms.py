"""What a performance left, in terms of what every performance shares: parameters, the clipboard at the start,
the instruction."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from taskloom.evaluators_api.state.templates import steady_path
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.offline.conditions.conditions import Call, Condition, Value
from taskloom.offline.conditions.expressions import Expression, generalise
from taskloom.prompts.inputs import Performance
from taskloom.prompts.shown_effects import CheckAsked
from taskloom.taskgraph.records.effect import ANY
from taskloom.taskgraph.text_folding import fold_text

_MOST_OWN_WORDS = 4
_CLIPBOARD = Expression((("call", "get_clipboard_text(at_start=True)"),))
_APPLICATIONS = ".applications/"
_PATHS = ("file_path", "source", "target")
"""Arguments of checks that name a file."""

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
        """The path of a file; where an application has made it from the name of what it holds, the file that
        holds that."""
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
        """The field of the record known by a field and its value, as it was at the start, with `behind` in
        further lines."""
        start = self.linked(file_path, field, *known)
        return Expression((*start.parts, ("", "\n"), *self.text(behind).parts))

    def said(self, value: str) -> bool:
        """Whether `value` comes from the parameters, the clipboard or the words of the instruction, not from
        this performance alone."""
        told = not value.strip() or has_phrase(value, self.performance.instruction)
        return told or self.text(value).depends

    def plain(self, text: str) -> bool:
        """Whether a text on the screen says hardly more than the instruction; what says more could be put in
        other words."""
        own = "".join(words for form, words in self.text(text).parts if not form)
        asked = set(fold_text(self.performance.instruction).split())
        return len([word for word in fold_text(own).split() if word not in asked]) <= _MOST_OWN_WORDS

    def call(self, check: str, **given: Given) -> Call:
        """A call of `check`: texts among its arguments are put in terms of the parameters, paths as `file`
        has them."""
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
