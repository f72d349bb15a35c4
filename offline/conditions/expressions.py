"""Texts with a parameter's value in them, turned into Python expressions over the parameters."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
    parts: list[tuple[str, str]] = []
    end = 0
    for match in re.finditer(pattern, text):
        if match.start() > end:
            parts.append(("", text[end : match.start()]))
        parts.append(known[match.group()])
        end = match.end()
    if end < len(text) or not parts:
        parts.append(("", text[end:]))
    return Expression(tuple(parts))
