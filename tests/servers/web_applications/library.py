"""A lending library on SQLite: books that are added, lent, returned and removed, and members."""

from __future__ import annotations

import sqlite3
import sys
from html import escape
from pathlib import Path

from tests.servers.web_applications.pages import Form, document, form, press, serve

LINKS = {"Books": "/", "New book": "/new", "Members": "/members"}
SEED = (("Emma", "Jane Austen"), ("Dracula", "Bram Stoker"), ("Walden", "Henry Thoreau"))


class Library:
    """The database."""

    def __init__(self, folder: Path) -> None:
        """Open the database in `folder`; the first time with a few books."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "library.db"
        fresh = not self.path.exists()
        with self.connect() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS books (id INTEGER PRIMARY KEY, title TEXT, author TEXT, lent"
                " INTEGER DEFAULT 0)"
            )
            connection.execute(
                "CREATE TABLE IF NOT EXISTS members (id INTEGER PRIMARY KEY, name TEXT, email TEXT)"
            )
            if fresh:
                connection.executemany("INSERT INTO books (title, author) VALUES (?, ?)", SEED)

    def connect(self) -> sqlite3.Connection:
        """A connection."""
        return sqlite3.connect(self.path)

    def page(self, path: str, query: Form) -> str | None:
        """The HTML of a path."""
        with self.connect() as connection:
            if path == "/":
                books = connection.execute(
                    "SELECT id, title, author, lent FROM books ORDER BY title"
                ).fetchall()
                rows = "".join(
                    f"<tr><td>{escape(title)}</td><td>{escape(author)}</td><td>"
                    + press(f"/book/{number}/{'return' if lent else 'lend'}", "Return" if lent else "Lend")
                    + press(f"/book/{number}/remove", "Remove")
                    + "</td></tr>"
                    for number, title, author, lent in books
                )
                return document("Books", LINKS, f"<table>{rows}</table>")
            if path == "/new":
                return document(
                    "New book", LINKS, form("/new", {"title": "Title", "author": "Author"}, "Add book")
                )
            if path == "/members":
                listed = "".join(
                    f"<li>{escape(name)}</li>"
                    for (name,) in connection.execute("SELECT name FROM members ORDER BY name")
                )
                adding = form("/members", {"name": "Name", "email": "Email"}, "Add member")
                return document("Members", LINKS, f"{adding}<ul>{listed}</ul>")
        return None

    def act(self, path: str, given: Form) -> str | None:
        """Carry out a form."""
        part = path.strip("/").split("/")
        with self.connect() as connection:
            if path == "/new":
                values = (given.get("title", ""), given.get("author", ""))
                connection.execute("INSERT INTO books (title, author) VALUES (?, ?)", values)
                return "/"
            if path == "/members":
                values = (given.get("name", ""), given.get("email", ""))
                connection.execute("INSERT INTO members (name, email) VALUES (?, ?)", values)
                return "/members"
            if part[0] == "book" and len(part) == 3:
                change = {
                    "lend": "UPDATE books SET lent = 1 WHERE id = ?",
                    "return": "UPDATE books SET lent = 0 WHERE id = ?",
                    "remove": "DELETE FROM books WHERE id = ?",
                }.get(part[2])
                if change:
                    connection.execute(change, (int(part[1]),))
                    return "/"
        return None


if __name__ == "__main__":
    library = Library(Path(sys.argv[2]))
    serve(int(sys.argv[1]), library.page, library.act)
