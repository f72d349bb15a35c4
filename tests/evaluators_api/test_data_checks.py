"""The same data is the same however it is laid out, and other data never is."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from taskloom.evaluators_api.checks.declaration import Scene, checks
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.state.records import same_value
from tests.evaluators_api.state.evidence import evidence

TRANSACTION = '2026-03-16 * "Art shop" "Brushes"\n  Expenses:Books  27.30 USD\n  Assets:Cash\n'
_NAMES = st.text("abcdefg", min_size=1, max_size=6)
_VALUES = st.one_of(st.text("abcxyz ", max_size=12), st.integers(-99, 99), st.booleans())
_DATA = st.dictionaries(_NAMES, st.one_of(_VALUES, st.lists(_VALUES, max_size=3)), min_size=1, max_size=5)


def same(path: str, held: str, text: str) -> bool:
    scene = Scene(EvidenceView(evidence({path: held})), None, None)  # type: ignore[arg-type]
    return checks()["check_file_data"].ask(scene, (), {"file_path": path, "text": text})[1] is True


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (TRANSACTION, True),
        (TRANSACTION.replace("  27.30", "            27.3"), True),
        (TRANSACTION.replace("Assets:Cash", "Assets:Cash  -27.30 USD"), True),
        (TRANSACTION.replace("Assets:Cash", "Assets:Cash  27.30 USD"), False),
        (TRANSACTION.replace("27.30", "27.31"), False),
        (TRANSACTION.replace("USD", "EUR"), False),
        (TRANSACTION.replace("Assets:Cash", "Assets:Bank"), False),
        (TRANSACTION.replace("Art shop", "art shop"), False),
        (TRANSACTION + "\n" + TRANSACTION.replace("03-16", "03-17"), False),
        (TRANSACTION + "  Assets:Bank\n", False),
        ("", False),
    ],
)
def test_a_transaction_is_what_it_books(held: str, expected: bool) -> None:
    assert same("Documents/hobby.beancount", held, TRANSACTION) is expected


@given(_DATA)
def test_json_and_yaml_may_be_laid_out_in_any_way(data: dict[str, object]) -> None:
    reordered = dict(reversed(list(data.items())))
    assert same("a.json", json.dumps(reordered, indent=4), json.dumps(data))
    assert same("a.yaml", yaml.safe_dump(reordered, default_flow_style=False), yaml.safe_dump(data))


@given(_DATA, st.data())
def test_one_more_or_another_value_is_other_data(data: dict[str, object], draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(data)))
    assert not same("a.json", json.dumps({**data, name: "quite another"}), json.dumps(data))
    assert not same("a.json", json.dumps({**data, "one more": 1}), json.dumps(data))


def test_a_text_without_a_format_is_compared_as_it_stands() -> None:
    assert same("a.txt", "one\n", "one")
    assert not same("a.txt", "one  two", "one two")
    assert not same("missing.txt".replace("missing", "a"), "One", "one")


@given(st.text(max_size=30))
def test_a_value_is_itself_and_not_its_other_case(text: str) -> None:
    assert same_value(text, text)
    other = text.swapcase()
    if other.strip() and other.casefold() not in {"true", "false", "yes", "no", "on", "off", "null", "none"}:
        assert same_value(text, other) is (other == text) or not text.isascii()


@pytest.mark.parametrize(
    ("path", "held", "text"),
    [
        ("a.json", '{"a": "Ma\\u0301laga"}', '{"a": "Málaga"}'),
        ("a.json", '{"e\\u0301": 1, "f": 2}', '{"f": 2, "é": 1}'),
        ("a.yaml", 'a: "Ma\\u0301laga"', "a: Málaga"),
        ("a.xml", '<a b="Ma&#769;laga"/>', '<a b="Málaga"/>'),
    ],
)
def test_accents_may_be_decomposed_where_an_escape_writes_them(path: str, held: str, text: str) -> None:
    assert same(path, held, text) and same(path, text, held)
    assert not same(path, held, text.replace("á", "a").replace("é", "e"))
