"""The catalogue as it ships, and the messages that a user's own catalogue gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest

from taskloom.resources.assets import content_of
from taskloom.resources.errors import CatalogEntryInvalidError, UnknownCatalogEntryError
from taskloom.resources.reading.catalog import (
    load_application,
    load_application_categories,
    load_applications,
    load_capabilities,
    load_paper_applications,
    load_resource_categories,
    load_scenarios,
)

ENTRY = """\
name: notepad
title: Notepad
category: Note Management
version: "1.0"
licence: MIT
description: Writes notes.
installation:
  pip: [notepad==1.0]
fixtures:
  - {category: text_path, value: Documents/first.txt, content: "one\\n"}
manual: Press Save to save.
example_subtasks:
  - name: write_file
    instruction_template: Write a file and save it as '{text_path}'.
    parameter_sets:
      - {text_path: Documents/new.txt}
      - {text_path: Documents/other.txt}
    outputs: [text_path]
    fresh: [text_path]
    worked_example:
      - {click: File name}
      - {type: "^a{text_path}", into: File name}
      - {click: {text: Save, control_type: Button}}
  - name: open_file
    instruction_template: Open '{text_path}'.
    parameter_sets:
      - {text_path: Documents/first.txt}
      - {text_path: Documents/new.txt}
    inputs: [text_path]
    outputs: [text_in_processing]
    worked_example:
      - {click: "{text_path_name}"}
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a user's catalogue of one entry."""

    def put(text: str, name: str = "notepad") -> Path:
        (tmp_path / "applications").mkdir(exist_ok=True)
        (tmp_path / "applications" / f"{name}.yaml").write_text(text)
        return tmp_path

    return put


def test_the_paper_has_49_applications_in_12_categories() -> None:
    categories = load_paper_applications()
    assert len(load_application_categories()) == 12
    assert sum(len(item.applications) for item in categories) == 49


def test_there_are_12_base_scenarios_7_combinations_and_one_remainder() -> None:
    kinds = [item.kind for item in load_scenarios()]
    assert [kinds.count(kind) for kind in ("base", "combination", "remainder")] == [12, 7, 1]
    assert all(
        len(item.application_categories) == {"base": 1, "combination": 2, "remainder": 0}[item.kind]
        for item in load_scenarios()
    )


def test_the_printed_capabilities_have_the_repeated_row_and_the_repaired_ones_have_not() -> None:
    printed = [tuple(sorted(item.as_printed.items())) for item in load_capabilities()]
    repaired = [tuple(sorted(item.repaired.items())) for item in load_capabilities()]
    assert (len(printed), len(set(printed))) == (10, 9)
    assert len(set(repaired)) == 10
    changed = {item.name for item in load_capabilities() if item.as_printed != item.repaired}
    assert changed == {"long_instruction_following", "domain_specific_knowledge"}


def test_reads_a_users_catalogue_beside_the_shipped_one(write: Write) -> None:
    found = load_applications(write(ENTRY))
    assert found["notepad"].example_subtasks[0].outputs[0].parameter == "text_path"
    assert found["notepad"].example_subtasks[1].outputs[0].parameter == ""
    assert found["notepad"].example_subtasks[0].worked_example[1].operation == "keyboard_input"
    assert set(load_applications()) < set(found)


def test_reads_assets_and_resource_categories_of_a_users_catalogue(write: Write, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "one.txt").write_bytes(b"\xffpicture")
    (tmp_path / "resource_categories.yaml").write_text("[{name: x_path, kind: file, description: X.}]")
    extra = write(
        ENTRY.replace('"one\\n"', '"asset:one.txt"').replace("category: text_path", "category: x_path")
        + """\
  - name: view
    instruction_template: View '{x_path}'.
    parameter_sets: [{x_path: Documents/first.txt}, {x_path: Documents/made.txt}]
    inputs: [x_path]
    worked_example: [{wait: 0}]
  - name: make
    instruction_template: Make '{x_path}'.
    parameter_sets: [{x_path: Documents/made.txt}, {x_path: Documents/first.txt}]
    outputs: [x_path, {category: text_path, parameter: x_path}]
    worked_example: [{wait: 0}]
"""
    )
    application = load_application("notepad", extra)
    assert content_of(application.fixtures[0].content, application) == b"\xffpicture"
    assert "x_path" in load_resource_categories(extra)
    assert str(tmp_path) not in application.model_dump_json()


def test_an_unknown_application_is_answered_with_the_known_ones(write: Write) -> None:
    with pytest.raises(UnknownCatalogEntryError, match="Did you mean 'notepad'"):
        load_application("notepd", write(ENTRY))


def test_a_missing_catalogue_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownCatalogEntryError, match="nowhere"):
        load_applications(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("manual:", "manuel:", r":11: manuel: unknown field; did you mean 'manual'\?"),
        ("manual: Press Save to save.\n", "", r":1: manual: this field is required"),
        (
            "category: Note Management",
            "category: Notes",
            r":3: category: 'Notes' is not an application category",
        ),
        ("notepad==1.0", "notepad>=1.0", r":8: installation.pip\[0\]: 'notepad>=1.0' is not pinned"),
        (
            "category: text_path",
            "category: txt_path",
            r":10: .*'txt_path' is not a resource category; did you",
        ),
        (
            "Documents/first.txt, content",
            "/etc/passwd, content",
            r":10: .*not a path inside the sandbox home",
        ),
        ('"one\\n"', '"asset:gone.txt"', r":10: fixtures\[0\].content: There is no asset named 'gone.txt'"),
        (
            "save it as '{text_path}'",
            "save it as '{path}'",
            r":14: .*no parameter set gives \['path'\]; the param",
        ),
        ("- {text_path: Documents/other.txt}", "- {path: a}", r":17: .*all sets need the same"),
        ("outputs: [text_path]", "outputs: [json_path]", r":18: .*needs the parameter that gives its value"),
        ("fresh: [text_path]", "fresh: [test_path]", r":19: .*did you mean 'text_path'"),
        ("click: File name", "clik: File name", r":21: .*clik: unknown field"),
        ("^a{text_path}", "^a{text}", r":22: .*\{text\} is not a parameter"),
        (
            "{click: {text: Save, control_type: Button}}",
            "{operation: click_imput}",
            r":23: .*did you mean 'click_input'",
        ),
        (
            "{click: {text: Save, control_type: Button}}",
            "{wait: 9}",
            r":23: .*9.0 is not allowed; must be between 0 and 5",
        ),
        ("name: open_file", "name: write_file", r":24: .*occurs twice"),
        (
            "- {text_path: Documents/new.txt}\n    inputs",
            "- {text_path: b.txt}\n    inputs",
            r":28: .*not a fixture of",
        ),
        (
            "licence: MIT",
            'licence: MIT\nlaunch: {command: ["{venv}/bin/notepad", "--port={prot}"]}',
            r":6: .*\{prot\} is not filled in; did you mean 'port'",
        ),
        ("fixtures:", "fixtures: [", r":\d+: not valid YAML"),
        ("title: Notepad", "title: Notepad\ntitle: Again", r":3: not valid YAML: .*duplicate key"),
        ("name: notepad", "name: notes", r":1: name: 'notes' must be the file's name, 'notepad'"),
    ],
)
def test_a_mistake_is_reported_with_file_line_field_and_what_is_allowed(
    write: Write, old: str, new: str, message: str
) -> None:
    assert old in ENTRY
    with pytest.raises(CatalogEntryInvalidError, match=r"notepad\.yaml" + message):
        load_applications(write(ENTRY.replace(old, new, 1)))


def test_a_path_has_one_content_in_the_whole_catalogue(write: Write) -> None:
    write(ENTRY)
    other = ENTRY.replace("name: notepad", "name: notebook").replace('"one\\n"', '"two\\n"')
    with pytest.raises(CatalogEntryInvalidError, match="a path has one content"):
        load_applications(write(other, "notebook"))


def test_refuses_a_second_application_of_one_name(write: Write) -> None:
    shipped = next(iter(load_applications()))
    with pytest.raises(CatalogEntryInvalidError, match="already defined"):
        load_applications(write(ENTRY.replace("notepad", shipped, 1), shipped))


def test_the_templates_that_trac_is_given_are_templates() -> None:
    """Trac reads a line that begins with a hash as a statement; a style rule that begins so stops every
    page."""
    files = load_applications()["trac"].preparation.files
    trac = jinja2.Environment(
        autoescape=True, line_statement_prefix="#", line_comment_prefix="##", extensions=["jinja2.ext.do"]
    )
    templates = [text for name, text in files.items() if name.endswith(".html")]
    assert templates
    for text in templates:
        trac.parse(text)
