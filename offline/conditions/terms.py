"""What a performance left, in terms of what every performance shares: parameters, the clipboard at the start,
the instruction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.offline.conditions.conditions import Call, Condition, Kind
from taskloom.offline.conditions.expressions import Expression, generalise
from taskloom.prompts.inputs import Performance
from taskloom.taskgraph.text_folding import fold_text

_MOST_OWN_WORDS = 4
_CLIPBOARD = Expression((("call", "get_clipboard_text(at_start=True)"),))
_AT_END = re.compile(r"\b(end|bottom|below|append|appended|last)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Terms:
    """Turns texts of one performance into expressions, and conditions made of them."""

    performance: Performance
    """The performance."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """Its parameters."""
        return self.performance.parameters

    @property
    def at_end(self) -> bool:
        """Whether the instruction says that something belongs at the end."""
        return _AT_END.search(self.performance.instruction) is not None

    def text(self, value: str) -> Expression:
        """`value` in terms of the parameters, or as what the clipboard held."""
        held = self.performance.effects.clipboard_before
        if held.strip() and fold_text(held) == fold_text(value):
            return _CLIPBOARD
        return generalise(value, self.parameters)

    def linked(self, file_path: str, field: str, known_by: str, known: str) -> Expression:
        """The field of the record that was known as `known` at the start."""
        path, name = self.text(file_path).source(), self.text(known).source()
        call = (
            f"get_linked_field(file_path={path}, field={field!r}, fields={{{known_by!r}: {name}}},"
            " at_start=True)"
        )
        return Expression((("call", call),))

    def grown(self, file_path: str, field: str, known: tuple[str, str], behind: str) -> Expression:
        """The field of the record known by a field and its value, as it was at the start, with `behind` in
        further lines."""
        start = self.linked(file_path, field, *known)
        return Expression((*start.parts, ("", "\n"), *self.text(behind).parts))

    def said(self, value: str) -> bool:
        """Whether `value` comes from the parameters, the clipboard or the words of the instruction, not from
        this performance alone."""
        expression = self.text(value)
        if expression.depends:
            return True
        return not value.strip() or has_phrase(value, self.performance.instruction)

    def plain(self, text: str) -> bool:
        """Whether a text on the screen says hardly more than the instruction; what says more could be put in
        other words."""
        own = "".join(words for form, words in self.text(text).parts if not form)
        asked = set(fold_text(self.performance.instruction).split())
        return len([word for word in fold_text(own).split() if word not in asked]) <= _MOST_OWN_WORDS

    def condition(
        self, check: str, complaint: str, *, kind: Kind = "lasting", negated: bool = False, **texts: str
    ) -> Condition:
        """A call of `check` with these texts as arguments."""
        arguments = tuple((name, self.text(value)) for name, value in texts.items())
        return Condition(kind, Call(check, arguments), self.text(complaint), negated)
