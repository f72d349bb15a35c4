"""Paths of both systems come down to one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.evaluators_api.errors import CheckMisusedError
from taskloom.evaluators_api.evidence.sandbox_paths import (
    apply_path_function,
    is_windows_path,
    last_part,
    relative_to_home,
)


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("Documents/a.csv", "Documents/a.csv"),
        ("~/Documents/a.csv", "Documents/a.csv"),
        ("/home/user/Documents/a.csv", "Documents/a.csv"),
        ("/Users/ann/a.csv", "a.csv"),
        ("$HOME/a.csv", "a.csv"),
        ("%USERPROFILE%\\Desktop\\a.csv", "Desktop/a.csv"),
        ("C:/Users/user/Desktop/images/cute cat.jpg", "Desktop/images/cute cat.jpg"),
        ("C:\\Users\\user\\a.txt", "a.txt"),
        ("file:///home/user/a%20b.txt", "a b.txt"),
        ("file:///C:/Users/user/a.txt", "a.txt"),
        (" 'Documents/a.csv' ", "Documents/a.csv"),
        ("./Documents//a.csv", "Documents/a.csv"),
        ("Documents/../a.csv", "a.csv"),
        ("~", ""),
        ("/home/user", ""),
        ("", ""),
        ("/etc/passwd", None),
        ("C:/Windows/system.ini", None),
        ("../secret", None),
        ("~/../other/a", None),
        ("/home/user/../../etc/passwd", None),
        ("Documents/~/a", "Documents/~/a"),
    ],
)
def test_relative_to_home(path: str, relative: str | None) -> None:
    assert relative_to_home(path) == relative


@given(st.lists(st.sampled_from(["a", "b c", "d.txt", "\u00e9"]), min_size=1, max_size=5))
def test_all_ways_to_write_a_path_are_one(parts: list[str]) -> None:
    plain = "/".join(parts)
    ways = [plain, f"~/{plain}", f"/home/user/{plain}", "C:\\Users\\user\\" + "\\".join(parts), f"./{plain}"]
    assert {relative_to_home(way) for way in ways} == {plain}


def test_last_part_and_system() -> None:
    assert (last_part("a/b\\c.txt"), last_part("c.txt"), last_part("a/")) == ("c.txt", "c.txt", "a")
    assert (is_windows_path("a\\b"), is_windows_path("C:x"), is_windows_path("a/b")) == (True, True, False)


def test_path_functions_know_both_systems() -> None:
    assert apply_path_function("path_basename", "C:\\a\\b.txt") == "b.txt"
    assert apply_path_function("path_dirname", "/a/b.txt") == "/a"
    assert apply_path_function("path_join", "C:\\a", "b") == "C:\\a\\b"
    assert apply_path_function("path_join", "a", "b") == "a/b"
    assert apply_path_function("path_splitext", "a/b.tar.gz") == ("a/b.tar", ".gz")


@pytest.mark.parametrize("arguments", [(), (1,), ("a", "b"), ("a" * 20_000,)])
def test_path_functions_refuse_what_is_no_path(arguments: tuple[object, ...]) -> None:
    with pytest.raises(CheckMisusedError, match=r"os\.path\.basename"):
        apply_path_function("path_basename", *arguments)
