"""How resources are spoken of in instructions; the summarizer writes these phrases and the judge reads them."""

from __future__ import annotations

import re

GIVES = "this gives you"
"""Introduces the results of a subtask."""
NEEDS = ("Using", "Once you have", "With")
"""Introduce the results that a subtask needs; the choice carries no meaning."""
ALONE = ("Independently of that", "Separately", "Independently of the rest")
"""Introduce a subtask that needs no result of another."""

THEN = ("Then", "After that")
"""Introduce a subtask that needs what the one told just before gives, and nothing else."""

_SUFFIXES = ("_path", "_title", "_name", "_in_processing", "_in_clipboard")
_MARKS = (("'", "'"), ('"', '"'), ("“", "”"), ("`", "`"))
_QUOTED = re.compile(r"“[^”]*”")


def phrase(category: str, kind: str, value: str, application: str) -> str:
    """The noun phrase for a resource.

    >>> phrase("csv_path", "file", "Documents/a.csv", "JupyterLab")
    'the file “Documents/a.csv”'
    >>> phrase("text_in_clipboard", "clipboard", "", "Trac")
    'the text in the clipboard'
    >>> phrase("diagram_in_processing", "open_document", "", "diagrams.net")
    'the open diagram in diagrams.net'
    """
    words = category
    for suffix in _SUFFIXES:
        words = words.removesuffix(suffix)
    words = words.replace("_", " ")
    named = f" “{value}”" if value else ""
    if kind == "file":
        return f"the {'folder' if category == 'directory_path' else 'file'}{named}"
    if kind == "record":
        return f"the {words}{named} in {application}"
    if kind == "clipboard":
        return f"the {words} in the clipboard"
    if kind == "open_document":
        return f"the open {words}{named} in {application}"
    return f"the {words}{named} in {application}"


def names(instruction: str, value: str) -> bool:
    """Whether an instruction names `value` in quotation marks.

    >>> names("Save the drawing as 'Downloads/a.svg'.", "Downloads/a.svg")
    True
    >>> names("Save the drawing.", "")
    False
    """
    return bool(value) and any(f"{left}{value}{right}" in instruction for left, right in _MARKS)


def quoted(name: str) -> str:
    """The value that a noun phrase quotes, or an empty text.

    >>> quoted("the file “a.csv”"), quoted("the text in the clipboard")
    ('a.csv', '')
    """
    found = _QUOTED.search(name)
    return found.group()[1:-1] if found else ""


def spoken(category: str, value: str) -> str:
    """How a goal speaks of a resource; a bare slot, whose value is its category's name, is spoken of by its kind.

    >>> spoken("csv_path", "Documents/a_b.csv"), spoken("diagram_in_processing", "diagram_in_processing")
    ('Documents/a_b.csv', 'the open diagram')
    >>> spoken("text_in_clipboard", "text_in_clipboard")
    'the text in the clipboard'
    """
    if value != category:
        return value
    if category.endswith("_in_processing"):
        return f"the open {category.removesuffix('_in_processing').replace('_', ' ')}"
    return f"the {category.replace('_in_clipboard', ' in the clipboard').replace('_', ' ')}"


def split_phrases(text: str) -> list[str]:
    """The noun phrases of an enumeration; "and" and commas inside a quoted name do not count.

    >>> split_phrases("the file “a, b and c.txt”, the note “x” in Wiki and the text in the clipboard")
    ['the file “a, b and c.txt”', 'the note “x” in Wiki', 'the text in the clipboard']
    """
    hidden_names: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden_names.append(match.group())
        return f"“{len(hidden_names) - 1}”"

    hidden = _QUOTED.sub(hide, text)
    found = []
    for item in re.split(r", (?=the )| and (?=the )", hidden):
        shown = re.sub(r"“(\d+)”", lambda match: hidden_names[int(match.group(1))], item)
        if shown.strip(" ,."):
            found.append(shown.strip(" ,."))
    return found


def enumerate_phrases(phrases: list[str]) -> str:
    """The phrases as an enumeration.

    >>> enumerate_phrases(["the file “a”", "the file “b”", "the file “c”"])
    'the file “a”, the file “b” and the file “c”'
    """
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def embedded(instruction: str, application: str) -> str:
    """An instruction as part of a sentence that already names the application.

    >>> embedded("In Trac, create the ticket 'x'.", "Trac")
    "create the ticket 'x'"
    """
    text = instruction.strip().removesuffix(".").removeprefix(f"In {application}, ")
    if len(text) > 1 and text[0].isupper() and not text[1].isupper():
        return text[0].lower() + text[1:]
    return text
