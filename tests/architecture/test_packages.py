"""The packages in the tree, in the import rules, in the type checker and in the wheel are the same set."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.sources import MODULES, PACKAGES, PROJECT, ROOT, docstring, source

FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "base", "core", "manager"}


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
    assert sorted(tools["mypy"]["packages"]) == ["benchmarks", "scripts", "taskloom", "tests"]
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


def relative(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_modules_are_named_for_what_they_hold() -> None:
    vague = [path for path in MODULES if {*path.relative_to(ROOT).with_suffix("").parts} & FORBIDDEN_NAMES]
    assert relative(vague) == []
    top = [path for path in MODULES if path.parent == ROOT / path.parent.name and path.stem != "__init__"]
    standard = [path for path in top if path.stem in sys.stdlib_module_names]
    assert relative([path for path in standard if path.parent.name != "model_clients"]) == []


def test_modules_are_small() -> None:
    lines = {str(path.relative_to(ROOT)): len(source(path).splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > 400} == {}, (
        "a module over 400 lines is two modules"
    )


def test_every_module_and_every_folder_has_a_docstring() -> None:
    assert relative([path for path in MODULES if not docstring(path)]) == []


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
