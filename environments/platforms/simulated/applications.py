"""Four small applications over real files: a notes editor, a table tool, a file manager and a mailer."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

_OUTBOX = ".applications/simulated_mail/outbox"


class SimulatedApplication:
    """Buttons, fields, files and a status line; its whole state is its fields and the files of the home."""

    fields: ClassVar[tuple[str, ...]]
    suffixes: ClassVar[tuple[str, ...]] = ()
    paste_field: ClassVar[str] = "Text"

    def __init__(self, home: Path, clipboard: list[str]) -> None:
        """Start with empty fields; all applications share the clipboard, a list of at most one text."""
        self.home, self.clipboard = home, clipboard
        self.show_first_page()

    def show_first_page(self) -> None:
        """Clear fields and selection, as when first opened; files stay."""
        self.texts = dict.fromkeys(self.fields, "")
        self.chosen, self.status = "", "Ready"

    def _commands(self) -> dict[str, Callable[[], str]]:
        raise NotImplementedError

    def _listed_files(self) -> list[str]:
        found = [path for path in sorted(self.home.glob("[!.]*/**/*")) if path.is_file()]
        paths = [path.relative_to(self.home).as_posix() for path in found]
        return [path for path in paths if not self.suffixes or path.endswith(self.suffixes)]

    def _paste(self) -> str:
        self.texts[self.paste_field] += "".join(self.clipboard)
        return "Pasted"

    def _choose(self, path: str) -> str:
        self.chosen = path
        return f"Chosen: {path}"

    def view(self) -> Iterator[tuple[str, str, str]]:
        """Type, text and value of its current controls, in reading order."""
        yield from (("Button", name, "") for name in self._commands())
        yield from (("Edit", name, text) for name, text in self.texts.items())
        yield from (("ListItem", path, "") for path in self._listed_files())
        yield ("Text", self.status, "")

    def click(self, control_type: str, text: str) -> None:
        """React to a click on one of its controls; unknown ones are ignored."""
        if control_type == "Button":
            self.status = self._commands().get(text, lambda: self.status)()
        elif control_type == "ListItem":
            self.status = self._choose(text)

    def inside(self, typed: str) -> Path | None:
        """The path that a user typed; None if it is empty or leads out of the home."""
        path = (self.home / typed.strip()).resolve()
        return path if typed.strip() and path != self.home and path.is_relative_to(self.home) else None


class Notes(SimulatedApplication):
    """Plain texts."""

    fields: ClassVar[tuple[str, ...]] = ("File name", "Text")
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".md")

    def _commands(self) -> dict[str, Callable[[], str]]:
        return {"New": self._new, "Save": self._save, "Copy text": self._copy, "Paste text": self._paste}

    def _choose(self, path: str) -> str:
        self.texts.update({"File name": path, "Text": (self.home / path).read_text(errors="replace")})
        return f"Opened {path}"

    def _new(self) -> str:
        self.texts = dict.fromkeys(self.fields, "")
        return "New document"

    def _save(self) -> str:
        path = self.inside(self.texts["File name"])
        if path is None or not path.name.endswith(self.suffixes):
            return f"Give a file name that ends in {' or '.join(self.suffixes)}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.texts["Text"])
        return f"Saved {self.texts['File name']}"

    def _copy(self) -> str:
        self.clipboard[:] = [self.texts["Text"]]
        return "Copied"


class Tables(Notes):
    """Tables of comma-separated values, changed row by row."""

    fields: ClassVar[tuple[str, ...]] = ("File name", "Text", "Row")
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)

    def _commands(self) -> dict[str, Callable[[], str]]:
        return {"New": self._new, "Save": self._save, "Copy table": self._copy, "Add row": self._add_row}

    def _add_row(self) -> str:
        text = f"{self.texts['Text'].rstrip()}\n{self.texts['Row']}\n".lstrip()
        self.texts.update({"Text": text, "Row": ""})
        return "Row added"


class Files(SimulatedApplication):
    """A file manager: choose a file, name a target, then copy or move."""

    fields: ClassVar[tuple[str, ...]] = ("Target",)

    def _commands(self) -> dict[str, Callable[[], str]]:
        copy, move = partial(self._transfer, shutil.copyfile), partial(self._transfer, shutil.move)
        return {"Copy to target": copy, "Move to target": move}

    def _transfer(self, work: Callable[[Path, Path], object]) -> str:
        target = self.inside(self.texts["Target"])
        if not self.chosen or target is None or target.exists():
            return "Choose a file and give a new target"
        target.parent.mkdir(parents=True, exist_ok=True)
        work(self.home / self.chosen, target)
        self.chosen = ""
        return f"Done: {self.texts['Target']}"


class Mail(SimulatedApplication):
    """A mailer whose outbox is a folder of its state."""

    fields: ClassVar[tuple[str, ...]] = ("To", "Subject", "Attachment", "Body")
    paste_field: ClassVar[str] = "Body"

    def _commands(self) -> dict[str, Callable[[], str]]:
        return {"Send": self._send, "Paste into body": self._paste}

    def _listed_files(self) -> list[str]:
        return sorted(path.stem for path in (self.home / _OUTBOX).glob("*.txt"))

    def _send(self) -> str:
        attachment = self.inside(self.texts["Attachment"])
        missing = self.texts["Attachment"] and (attachment is None or not attachment.is_file())
        path = self.inside(f"{_OUTBOX}/{self.texts['Subject']}.txt")
        if not self.texts["To"] or not self.texts["Subject"] or missing or path is None:
            return "Give a receiver, a subject and no attachment that does not exist"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{name}: {text}\n" for name, text in self.texts.items()))
        self.texts = dict.fromkeys(self.fields, "")
        return "Sent"


APPLICATIONS = {
    "simulated_notes": Notes,
    "simulated_tables": Tables,
    "simulated_files": Files,
    "simulated_mail": Mail,
}
"""The applications by catalogue name."""
