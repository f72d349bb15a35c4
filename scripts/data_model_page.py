"""The generated page of tables and views, from the schema."""

from __future__ import annotations

from taskloom.warehouse.field_codecs import sql_type
from taskloom.warehouse.schema import SCHEMA_VERSION, TABLES
from taskloom.warehouse.views import views

_TYPE_SHOWN = 60


def page() -> str:
    """The page, the same text for the same schema."""
    lines = [
        "# Data model",
        "",
        (
            "This page is written from the schema (`make docs`); a test fails when it is not current. The"
            f" present schema has number {SCHEMA_VERSION}."
        ),
        "",
        (
            "Tables keep records: a record's fields are columns, nested records are structs, repeated ones"
            " lists, and a mapping is a list of `{name, value}` structs. What stands in every record as"
            " `provenance` is spread over the columns `run_id`, `provenance_stage`, `provider`, `model`,"
            " `prompt`, `prompt_hash`, `seed` and `cost_usd`. Evidence refers to texts of files and lists of"
            " controls by hash (`file_texts`, `control_lists`), and to screenshots by the SHA-256 of the"
            " picture in the folder `screenshots`. Views unfold what is nested."
        ),
        "",
        (
            "The same is in the warehouse itself: `SELECT * FROM data_model`, or `taskloom sql columns"
            " --param table=tasks`."
        ),
        "",
        "## Tables",
    ]
    for table in TABLES:
        lines += [
            "",
            f"### {table.name}",
            "",
            table.comment,
            "",
            f"Key: {', '.join(f'`{key}`' for key in table.key)}.",
            "",
        ]
        lines += ["| column | type | meaning |", "|--|--|--|"]
        lines += [
            f"| `{column.name}` | {_short(sql_type(column.arrow))} | {_cell(column.comment)} |"
            for column in table.columns
        ]
    lines += ["", "## Views"]
    for view in views():
        lines += ["", f"### {view.name}", "", view.comment, "", "| column | meaning |", "|--|--|"]
        lines += [f"| `{name}` | {_cell(meaning)} |" for name, meaning in view.columns.items()]
    return "\n".join(lines) + "\n"


def _short(kind: str) -> str:
    shown = kind.replace('"', "")
    if len(shown) > _TYPE_SHOWN:
        shown = "STRUCT(…)[]" if shown.endswith("[]") else "STRUCT(…)"
    return f"`{shown}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
