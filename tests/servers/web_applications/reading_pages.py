"""The pages of the small applications as lists of what can be seen and used, in reading order."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass(frozen=True)
class Item:
    """A text, link, button or field of a page."""

    kind: str
    """Control type."""
    text: str
    """What it says, or its label."""
    address: str = ""
    """Where a link leads, or where its form is sent."""
    form: int = -1
    """Number of its form."""
    name: str = ""
    """Name of a field."""
    value: str = ""
    """What a field holds."""
    row: str = ""
    """First text of its row or list item."""
    section: str = ""
    """Heading above it."""


def items_of(html: str) -> tuple[str, tuple[Item, ...]]:
    """Title and items of a page."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.title, tuple(reader.items)


@dataclass
class _Reader(HTMLParser):
    title: str = ""
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._inside: list[str] = []
        self._text = self._label = self._row = self._section = self._link = ""
        self._forms, self._form, self._address = 0, -1, ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "input":
            label, self._label = self._label.strip(), ""
            self._add("Edit", label, name=given["name"], value=given.get("value", ""))
            return
        if tag == "meta":
            return
        self._inside.append(tag)
        self._text = ""
        if tag == "form":
            self._forms += 1
            self._form, self._address = self._forms, given["action"]
        elif tag in ("tr", "li"):
            self._row = ""
        elif tag == "a":
            self._link = given["href"]

    def handle_data(self, data: str) -> None:
        if "label" in self._inside:
            self._label += data
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._inside:
            return
        while self._inside.pop() != tag:
            continue
        text, self._text = self._text.strip(), ""
        if tag == "title":
            self.title = text
        elif tag in ("h1", "h2"):
            self._section = text
            self._add("Heading", text)
        elif tag == "a":
            self.items.append(Item("Hyperlink", text, self._link, row=self._row, section=self._section))
        elif tag == "button":
            self._add("Button", text)
        elif tag in ("td", "li") and text:
            self._row = self._row or text
            self._add("DataItem" if tag == "td" else "ListItem", text)
        elif tag == "form":
            self._form, self._address = -1, ""
        elif tag in ("table", "ul"):
            self._row = ""

    def _add(self, kind: str, text: str, *, name: str = "", value: str = "") -> None:
        sent = kind in ("Button", "Edit")
        self.items.append(
            Item(
                kind,
                text,
                self._address if sent else "",
                self._form if sent else -1,
                name,
                value,
                self._row,
                self._section,
            )
        )
