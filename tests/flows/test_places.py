"""Where data is found, and what happens where it lies in the folder of an earlier taskloom."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.places import load_places
from taskloom.flows.settings import load_settings


@pytest.mark.parametrize("option", [None, "d"])
@pytest.mark.parametrize("variable", [None, "c"])
@pytest.mark.parametrize("file", [None, "b"])
def test_readers_find_the_places_of_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: str | None,
    variable: str | None,
    file: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DATA", "WAREHOUSE"):
        monkeypatch.delenv(f"TASKLOOM_{name}", raising=False)
        if variable:
            monkeypatch.setenv(f"TASKLOOM_{name}", f"{variable}/{name}")
    if file:
        (tmp_path / "taskloom.yaml").write_text(f"data: {file}/data\nwarehouse: {file}/warehouse\n")
    data, warehouse = (Path(option) if option else None), option
    places, settings = (
        load_places(data=data, warehouse=warehouse),
        load_settings(data=data, warehouse=warehouse),
    )
    assert (places.data, places.warehouse_location) == (settings.data, settings.warehouse_location)


def test_a_settings_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taskloom.yaml").write_text("data: [")
    with pytest.raises(CommandError, match=r"taskloom\.yaml, line 2: not valid YAML"):
        load_places()
    monkeypatch.setenv("TASKLOOM_SETTINGS", "gone.yaml")
    with pytest.raises(CommandError, match=r"gone\.yaml: there is no such file"):
        load_places()


@pytest.mark.parametrize("package", [False, True])
def test_data_of_an_earlier_taskloom_is_moved_by_the_command_that_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TASKLOOM_DATA", raising=False)
    monkeypatch.delenv("TASKLOOM_WAREHOUSE", raising=False)
    (tmp_path / "taskloom" / "applications" / "it's one").mkdir(parents=True)
    (tmp_path / "taskloom" / "ledger.sqlite").write_text("kept")
    if package:
        (tmp_path / "warehouse").mkdir()
        (tmp_path / "taskloom" / "__init__.py").touch()
        (tmp_path / "taskloom" / "warehouse").symlink_to("../warehouse")
    for load in (load_places, load_settings):
        with pytest.raises(CommandError, match="is now called taskloom-data") as caught:
            load()
    command = next(line for line in str(caught.value).splitlines() if line.startswith("  mkdir"))
    subprocess.run(command, shell=True, check=True)
    assert load_places().data == load_settings().data == Path("taskloom-data")
    assert Path("taskloom-data/ledger.sqlite").read_text() == "kept"
    assert Path("taskloom-data/applications/it's one").is_dir()
    assert package == Path("taskloom/__init__.py").exists() == Path("taskloom/warehouse").is_symlink()


def test_a_folder_that_only_has_the_name_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TASKLOOM_DATA", raising=False)
    (tmp_path / "taskloom" / "notes").mkdir(parents=True)
    assert load_places().data == Path("taskloom-data")
    (tmp_path / "taskloom" / "ledger.sqlite").touch()
    assert load_places(data=Path("elsewhere")).data == Path("elsewhere")
    (tmp_path / "taskloom-data" / "warehouse").mkdir(parents=True)
    assert load_places().data == Path("taskloom-data")
