"""Watches of web pages, in the layout of changedetection.io: one folder with a JSON file per watch, under a
name that says nothing.

Names and times are the same in every run, so that what models are asked is, too.
"""

from __future__ import annotations

import json
import sys
import uuid
from html import escape
from pathlib import Path
from zlib import crc32

from tests.servers.web_applications.pages import Form, document, form, press, serve

LINKS = {"Watches": "/", "Groups": "/groups", "Settings": "/settings"}
SEED = (("Library hours", "https://library.test/hours"), ("Train times", "https://trains.test/plan"))
PERIOD = {"hours": "Hours between checks", "sender": "Notification sender"}


class Watches:
    """The datastore."""

    def __init__(self, folder: Path) -> None:
        """Open the datastore in `folder`; the first time with a few watches."""
        self.folder = folder
        self.writes = 0
        self.settings = folder / "changedetection.json"
        if not self.settings.exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.settings.write_text(
                json.dumps({"groups": {}, "application": {"hours": "3", "sender": ""}}, indent=2)
            )
            for title, url in SEED:
                self.add(title, url)

    def add(self, title: str, url: str) -> None:
        """A new watch."""
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{len(self.all())} {title}"))
        self.write(name, {"url": url, "title": title, "paused": False, "muted": False})

    def write(self, name: str, watch: dict[str, object]) -> None:
        """Store a watch."""
        path = self.folder / name / "watch.json"
        path.parent.mkdir(exist_ok=True)
        self.writes += 1
        stamp = 1_750_000_000.5 + self.writes + crc32(str(watch["title"]).encode()) % 100_000
        path.write_text(json.dumps({**watch, "uuid": name, "date_modified": stamp}, indent=2))

    def all(self) -> dict[str, dict[str, object]]:
        """Watches by name, by title."""
        found = {path.parent.name: json.loads(path.read_text()) for path in self.folder.glob("*/watch.json")}
        return dict(sorted(found.items(), key=lambda item: str(item[1]["title"])))

    def remove(self, name: str) -> None:
        """Remove a watch."""
        (self.folder / name / "watch.json").unlink()
        (self.folder / name).rmdir()

    def page(self, path: str, query: Form) -> str | None:
        """The HTML of a path."""
        part = path.strip("/").split("/")
        if path == "/":
            rows = "".join(
                f"<tr><td>{escape(str(watch['title']))}</td><td>{escape(str(watch['url']))}</td><td>"
                + press(f"/watch/{name}/pause", "Resume" if watch["paused"] else "Pause")
                + press(f"/watch/{name}/mute", "Unmute" if watch["muted"] else "Mute")
                + f'<a href="/watch/{name}">Edit</a>'
                + press(f"/watch/{name}/delete", "Delete")
                + "</td></tr>"
                for name, watch in self.all().items()
            )
            fields = {"url": "Address", "title": "Title"}
            adding = "<h2>Add a new watch</h2>" + form("/add", fields, "Watch")
            return document("Watch list", LINKS, f"{adding}<table>{rows}</table>")
        if part[0] == "watch" and len(part) == 2 and part[1] in self.all():
            watch = self.all()[part[1]]
            values = {"title": str(watch["title"]), "url": str(watch["url"])}
            fields = {"title": "Title", "url": "Address"}
            return document("Edit watch", LINKS, form(f"/watch/{part[1]}/save", fields, "Save", values))
        stored = json.loads(self.settings.read_text())
        if path == "/groups":
            listed = "".join(f"<li>{escape(name)}</li>" for name in stored["groups"])
            adding = form("/groups/add", {"name": "Group name"}, "Add group")
            return document("Groups", LINKS, f"{adding}<ul>{listed}</ul>")
        if path == "/settings":
            return document("Settings", LINKS, form("/settings", PERIOD, "Save", stored["application"]))
        return None

    def act(self, path: str, given: Form) -> str | None:
        """Carry out a form."""
        part = path.strip("/").split("/")
        if path == "/add":
            if given.get("url"):
                self.add(given.get("title") or given["url"], given["url"])
            return "/"
        if part[0] == "watch" and len(part) == 3 and part[1] in self.all():
            name, watch = part[1], self.all()[part[1]]
            if part[2] == "delete":
                self.remove(name)
            elif part[2] == "save":
                self.write(name, {**watch, **given})
            else:
                switch = {"pause": "paused", "mute": "muted"}[part[2]]
                self.write(name, {**watch, switch: not watch[switch]})
            return "/"
        stored = json.loads(self.settings.read_text())
        if path == "/groups/add" and given.get("name"):
            stored["groups"][given["name"]] = {"title": given["name"]}
        elif path == "/settings":
            stored["application"] |= {name: given.get(name, "") for name in PERIOD}
        else:
            return None
        self.settings.write_text(json.dumps(stored, indent=2))
        return path.replace("/add", "")


if __name__ == "__main__":
    watches = Watches(Path(sys.argv[2]))
    serve(int(sys.argv[1]), watches.page, watches.act)
