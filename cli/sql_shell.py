"""The interactive SQL shell: history, completion of names, statements over several lines."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from taskloom.cli.answer_printing import print_table
from taskloom.warehouse.errors import WarehouseError
from taskloom.warehouse.queries import named_queries, named_query
from taskloom.warehouse.store import Warehouse

HELP: Final = """A SELECT ends with a semicolon and may take several lines. Besides:
  .tables            tables and views
  .columns NAME      columns of one, with their meaning
  .queries           named queries
  .run NAME k=v …    run a named query
  .quit              leave (or Ctrl-D)"""
_KEYWORDS: Final = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "ORDER",
    "BY",
    "LIMIT",
    "HAVING",
    "JOIN",
    "LEFT",
    "USING",
    "AS",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "IN",
    "LIKE",
    "BETWEEN",
    "DISTINCT",
    "COUNT(",
    "SUM(",
    "AVG(",
    "UNNEST(",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "WITH",
    "UNION",
    "DESCRIBE",
    "SUMMARIZE",
    "ASC",
    "DESC",
]


class Completer:
    """Completes table, column and query names, keywords and the shell's own commands."""

    def __init__(self, warehouse: Warehouse) -> None:
        """Read the names from `warehouse`."""
        rows = warehouse.query("SELECT DISTINCT table_name, column_name FROM data_model").as_dicts()
        tables = {str(row["table_name"]) for row in rows}
        columns = {str(row["column_name"]) for row in rows}
        commands = {".tables", ".columns", ".queries", ".run", ".quit", ".help"}
        self.words = sorted(tables | columns | set(named_queries()) | commands) + _KEYWORDS

    def __call__(self, text: str, state: int) -> str | None:
        """The `state`-th word that starts like `text`, as readline asks for it."""
        folded = text.casefold()
        matches = [word for word in self.words if word.casefold().startswith(folded)]
        return matches[state] if state < len(matches) else None


def run_shell(warehouse: Warehouse, history: Path) -> None:
    """Read statements until the end of input; errors are shown and the shell continues."""
    interactive = sys.stdin.isatty()
    if interactive:
        _prepare_readline(warehouse, history)
        print(f"{HELP}\n", file=sys.stderr)  # noqa: T201 - a dialogue
    pending = ""
    while True:
        try:
            line = input(("taskloom> " if not pending else "     ...> ") if interactive else "")
        except EOFError:
            if pending.strip():
                answer_line(warehouse, pending)
            break
        except KeyboardInterrupt:
            pending = ""
            continue
        pending = f"{pending}\n{line}" if pending else line
        if pending.strip() in (".quit", ".exit"):
            break
        if pending.lstrip().startswith(".") or pending.rstrip().endswith(";"):
            answer_line(warehouse, pending)
            pending = ""
        elif not pending.strip():
            pending = ""
    if interactive:
        _save_history(history)


def answer_line(warehouse: Warehouse, text: str) -> None:
    """Answer one statement or one command of the shell."""
    try:
        sql, parameters = _statement(text.strip())
        if not sql:
            print(HELP)  # noqa: T201 - a dialogue
            return
        answer = warehouse.query(sql, parameters)
        print_table(answer.columns, answer.rows())
    except WarehouseError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - a dialogue


def _statement(text: str) -> tuple[str, dict[str, str]]:
    if not text.startswith("."):
        return text, {}
    command, *words = text.rstrip(";").split()
    if command == ".tables":
        return "SELECT table_name, count(*) AS columns FROM data_model GROUP BY ALL ORDER BY ALL", {}
    if command == ".columns" and words:
        return "SELECT column_name, column_type, comment FROM data_model WHERE table_name = $name", {
            "name": words[0]
        }
    if command == ".queries":
        lines = " UNION ALL ".join(
            f"SELECT '{query.name}' AS name, '{query.description.replace(chr(39), chr(39) * 2)}' AS"
            " description"
            for query in named_queries().values()
        )
        return lines, {}
    if command == ".run" and words:
        query = named_query(words[0])
        pairs = [word.partition("=") for word in words[1:]]
        return query.sql, query.bind({name: value for name, _, value in pairs})
    return "", {}


def _prepare_readline(warehouse: Warehouse, history: Path) -> None:
    with contextlib.suppress(ImportError):
        import readline

        with contextlib.suppress(OSError):
            readline.read_history_file(history)
        readline.set_history_length(2000)
        readline.set_completer_delims(" \t\n,;()=<>")
        readline.set_completer(Completer(warehouse))
        readline.parse_and_bind("tab: complete")


def _save_history(history: Path) -> None:
    with contextlib.suppress(ImportError, OSError):
        import readline

        history.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(history, os.O_CREAT | os.O_WRONLY, 0o600)
        os.close(descriptor)
        readline.write_history_file(history)
