"""The packages in the tree, in the import rules, in the type checker and in the wheel are the same set."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NOT_PACKAGES = {"tests", "benchmarks"}
PACKAGES = sorted(
    path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name not in NOT_PACKAGES
)
"""The rooms: folders of the repository that are installed as `taskloom.<room>`."""
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "base", "core", "manager"}


def module_name(path: Path) -> str:
    """What a file of the repository is imported as.

    >>> module_name(ROOT / "flows" / "settings.py"), module_name(ROOT / "tests" / "servers" / "web.py")
    ('taskloom.flows.settings', 'tests.servers.web')
    """
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("taskloom", *parts) if parts[0] in PACKAGES else parts)


def test_the_tree_the_import_rules_the_types_and_the_wheel_name_the_same_packages() -> None:
    tools = PROJECT["tool"]
    links = {path.name: path for path in (ROOT / "src" / "taskloom").iterdir() if path.is_symlink()}
    assert sorted(links) == PACKAGES
    assert all(path.resolve() == ROOT / name for name, path in links.items())
    assert tools["importlinter"]["root_packages"] == ["taskloom"]
    layers = next(
        item["layers"] for item in tools["importlinter"]["contracts"] if item["containers"] == ["taskloom"]
    )
    assert sorted(name for layer in layers for name in layer.split(" | ")) == PACKAGES
    assert sorted(tools["mypy"]["packages"]) == ["benchmarks", "taskloom", "tests"]
    assert tools["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/taskloom"]
    assert sorted(tools["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]) == PACKAGES


def test_import_rules_hold() -> None:
    answer = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_small_and_named_for_what_it_holds(path: Path) -> None:
    names = {path.stem, *path.relative_to(ROOT).parent.parts}
    assert not names & FORBIDDEN_NAMES
    if path.parent == ROOT / path.parent.name:
        assert (
            path.stem == "__init__"
            or path.stem not in sys.stdlib_module_names
            or path.parent.name == "model_clients"
        )
    lines = len(path.read_text().splitlines())
    assert lines <= 400, f"{path.relative_to(ROOT)} has {lines} lines; a module over 400 lines is two modules"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path: Path) -> None:
    if path.stat().st_size:
        assert ast.get_docstring(ast.parse(path.read_text())), "a module needs a docstring"


def test_every_test_folder_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_the_tree_holds_no_machine_paths_and_lock_files_no_addresses() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        path = ROOT / name
        if not path.is_file() or path.suffix in {".png", ".parquet", ".wav", ".db", ".sqlite"}:
            continue
        text = path.read_text(errors="replace")
        assert "/".join(["", "work", "main"]) not in text, name
        if "lock" in path.name:
            assert "://" not in text, f"{name} holds a download address"
        assert path.stat().st_size <= 1_000_000, f"{name} is over 1 MB"


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if path.name == "__init__.py"],
    ids=lambda path: str(path.relative_to(ROOT).parent),
)
def test_every_folder_says_what_stands_in_it(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
