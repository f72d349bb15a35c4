"""The drawing of the house says what the imports say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.house_drawing import Room, drawing, floors, rooms


def room(name: str, *uses: str) -> Room:
    return Room(name, f"For {name}.", (), frozenset(uses), ())


def test_a_room_stands_above_every_room_it_uses() -> None:
    found = floors((room("a", "b", "c"), room("b", "c"), room("c"), room("d", "c")))
    assert [[item.name for item in floor] for floor in found] == [["a"], ["b", "d"], ["c"]]


def test_rooms_that_import_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="import each other: a, b"):
        floors((room("a", "b"), room("b", "a"), room("c")))


def test_arrows_that_follow_from_others_are_left_out_but_stand_in_the_table() -> None:
    text = drawing((room("a", "b", "c"), room("b", "c"), room("c")))
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
    lower, upper = rooms("novel_house", tmp_path)
    assert upper == Room("upper", "", (), frozenset({"lower"}), ("networkx",))
    assert lower == Room("lower", "Lower.", ("shelf",), frozenset(), ())
