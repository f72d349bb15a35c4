"""README, docs and help stay true: generated pages are current, every command named in a page exists."""

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from scripts.documentation import DOCS, pages
from taskloom.cli.main import MEANINGS, create_app
from taskloom.resources.errors import ExitCode
from taskloom.warehouse.lookup import EXPORTS, IMPORTS

ROOT = Path(__file__).parents[2]
WRITTEN = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
COMMAND = re.compile(r"^(?:\$ )?taskloom ([^\n#]*)", re.MULTILINE)
CODE = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@cache
def generated() -> dict[str, str]:
    return pages()


@cache
def command_line() -> Any:
    """The root of all commands, which no test changes."""
    return get_command(create_app())


@pytest.mark.parametrize("name", sorted(generated()))
def test_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == generated()[name], "run: make docs"


def test_links_of_a_page_lead_somewhere() -> None:
    links = [(page, link) for page in WRITTEN for link in LINK.findall(page.read_text())]
    missing = [(page.name, link) for page, link in links if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_shown_in_a_page_exist_with_their_options(page: Path) -> None:
    root = command_line()
    for block in CODE.findall(page.read_text()):
        for line in COMMAND.findall(block):
            words = shlex.split(line)
            command = root.commands[words[0]]
            rest = words[1:]
            while rest and rest[0] in getattr(command, "commands", {}):
                command = command.commands[rest.pop(0)]
            options = {
                name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)
            }
            unknown = [
                word
                for word in rest
                if word.startswith("-") and word.split("=")[0] not in options | {"--help"}
            ]
            assert unknown == [], f"taskloom {line}"


@pytest.mark.parametrize(
    ("heading", "formats"), [("Export", EXPORTS.built_in()), ("Import", IMPORTS.built_in())]
)
def test_every_format_has_a_row_in_the_page_of_formats(heading: str, formats: list[str]) -> None:
    section = re.split(r"^## ", (DOCS / "formats.md").read_text(), flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(f"{heading}\n"))
    table = text[text.index("| Format |") :].partition("\n\n")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert sorted(described) == list(formats)


def test_every_exit_code_stands_in_the_help_and_in_the_page() -> None:
    text = command_line().epilog or ""
    assert set(MEANINGS) == set(ExitCode)
    assert text in generated()["cli.md"]
    assert f"{ExitCode.GATE_FAILED.value} {MEANINGS[ExitCode.GATE_FAILED]}" in text


def test_make_targets_named_in_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in WRITTEN:
        for block in CODE.findall(page.read_text()):
            named = set(re.findall(r"^(?:\$ )?make ([a-z-]+)", block, re.MULTILINE))
            assert named <= targets, page


def test_ci_calls_the_test_command_of_the_readme() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()


def test_every_setting_stands_in_the_page_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([^`]+)` \|([^|]*)\|", generated()["settings.md"], re.MULTILINE))
    for name, default in {
        "models.default.provider": "`offline`",
        "models.retries.attempts": "`8`",
        "models.default.prices.input": "required",
        "composition.count": "`1200`",
        "verification.thresholds.least_other_subtasks": "`3`",
        "replay_share": "`0.01`",
    }.items():
        assert rows[name].strip() == default, name
    from taskloom.flows.settings import Settings

    def leaves(value: object, prefix: str) -> list[str]:
        fields = getattr(type(value), "model_fields", None)
        if fields is None:
            return [prefix]
        return [
            leaf
            for name in fields
            for leaf in leaves(getattr(value, name), f"{prefix}.{name}" if prefix else name)
        ]

    shown = [re.sub(r"\.NAME|\[\]", "", name) for name in rows]
    missing = [
        name
        for name in leaves(Settings.model_construct(), "")
        if not any(item == name or item.startswith(f"{name}.") for item in shown)
        and not name.startswith("composition.within.")
    ]
    assert missing == [], "run: make docs"


@cache
def commands() -> dict[str, typer.core.TyperCommand]:
    """Every command by its words behind `taskloom`."""
    found: dict[str, typer.core.TyperCommand] = {}

    def walk(command: object, words: str) -> None:
        for name, below in sorted(getattr(command, "commands", {}).items()):
            found[f"{words} {name}".strip()] = below
            walk(below, f"{words} {name}".strip())

    walk(command_line(), "")
    return found


@pytest.mark.parametrize("words", sorted(commands()))
def test_every_help_has_examples_that_parse(words: str) -> None:
    examples = re.findall(
        r"^\s*(taskloom .*)$", (commands()[words].help or "").split("Examples:")[-1], re.MULTILINE
    )
    assert examples, f"taskloom {words} --help shows no example"
    for example in examples:
        parse(example)
    assert any(" ".join(shlex.split(item)[1:]).startswith(words) for item in examples)


def parse(example: str) -> None:
    """Parse an example as the command line would: command, options, values and arguments; nothing is run."""
    given = shlex.split(example)[1:]
    context: Any = typer.Context(command_line(), info_name="taskloom")
    while given:
        command = context.command
        if not isinstance(command, TyperGroup):
            break
        name = given.pop(0)
        below = command.get_command(context, name)
        assert below is not None, f"{example}: there is no command {name}"
        group = isinstance(below, TyperGroup) and bool(given) and given[0] in below.commands
        context = below.make_context(name, [] if group else given, parent=context)
        if not group:
            return


@pytest.mark.parametrize(
    ("example", "fault"),
    [
        ("taskloom plan --kount 3", "No such option"),
        ("taskloom plan --count many", "valid integer"),
        ("taskloom diff v1", "(?i)missing"),
        ("taskloom apps check drawio lucid", "(?i)unexpected extra argument"),
    ],
)
def test_an_example_that_does_not_parse_is_found(example: str, fault: str) -> None:
    with pytest.raises(TyperException, match=fault):
        parse(example)


def test_every_command_has_a_help_text() -> None:
    root = command_line()
    context = typer.Context(root, info_name="taskloom")
    for name, command in root.commands.items():
        assert command.get_short_help_str(), name
    assert context.command is root


def test_help_lists_what_make_offers() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("run", "test", "check", "bench", "docs", "clean"):
        assert f"make {target}" in shown
