"""The drawing of the house says what the imports say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.house_drawing import Package, drawing, layers, read_packages


def package(name: str, *uses: str) -> Package:
    return Package(name, f"For {name}.", (), frozenset(uses), ())


def test_a_room_stands_above_every_room_it_uses() -> None:
    found = layers((package("a", "b", "c"), package("b", "c"), package("c"), package("d", "c")))
    assert [[item.name for item in floor] for floor in found] == [["a"], ["b", "d"], ["c"]]


def test_rooms_that_import_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="import each other: a, b"):
        layers((package("a", "b"), package("b", "a"), package("c")))


def test_arrows_that_follow_from_others_are_left_out_but_stand_in_the_table() -> None:
    text = drawing((package("a", "b", "c"), package("b", "c"), package("c")))
    assert "a --> b" in text
    assert "a --> c" not in text
    assert "| `a` | For a. | – | b, c | – |" in text


def test_imports_shelves_and_own_libraries_are_read_from_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, source in {
        "upper": "import novel_house.lower.shelf.thing\nimport networkx\nimport json\n",
        "lower": '"""Lower.\n\nMore."""\n',
        "lower/shelf": "",
    }.items():
        (tmp_path / "novel_house" / package).mkdir(parents=True)
        (tmp_path / "novel_house" / package / "__init__.py").write_text(source, encoding="utf-8")
    (tmp_path / "novel_house" / "__init__.py").touch()
    (tmp_path / "novel_house" / "lower" / "shelf" / "thing.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    lower, upper = read_packages("novel_house", tmp_path)
    assert upper == Package("upper", "", (), frozenset({"lower"}), ("networkx",))
    assert lower == Package("lower", "Lower.", ("shelf",), frozenset(), ())
