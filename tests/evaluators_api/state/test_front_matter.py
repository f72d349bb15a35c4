"""A text with a header of YAML: its values are fields, what follows are lines."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.formats import front_matter, lines
from taskloom.evaluators_api.state.reading import read
from tests.evaluators_api.state.evidence import evidence
from tests.shared_work import examples

CARD = "---\ntitle: Paint the fence\nupdated_at: '{}'\n---\n\n{}\n"
PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=30)


@pytest.mark.parametrize("path", ["a.md", "card", "a.markdown", "a.txt"])
def test_a_header_is_known_by_what_stands_there(path: str) -> None:
    form, tree = read(path, CARD.format("2026-03-02T09:00:00Z", "Buy paint"))
    assert form == "front_matter"
    assert [(node.name, node.value) for node in tree.children[:-1]] == [
        ("title", "Paint the fence"),
        ("updated_at", "2026-03-02T09:00:00Z"),
    ]
    assert [node.value for node in tree.children[-1].children] == ["Buy paint"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nno key\n---\ntext\n",
        "---\na: [\n---\n",
        "---\n- a\n---\n",
        "---\n---\n",
        "# A\n\n---\na: b\n---\n",
    ],
)
def test_what_is_no_header_is_read_as_lines(text: str) -> None:
    assert read("a.md", text) == ("lines", lines.parse(text))


@given(
    header=st.dictionaries(PLAIN.filter(str.strip), PLAIN, min_size=1, max_size=5),
    body=st.text(max_size=60),
    end=st.sampled_from(["\n", "\r\n"]),
    empty=st.booleans(),
)
@settings(max_examples=examples(16, 100), deadline=None)
def test_values_of_the_header_and_lines_of_the_text_survive(
    header: dict[str, str], body: str, end: str, empty: bool
) -> None:
    members = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in header.items()]
    text = end.join(["---", *members, "---", *([""] if empty else []), body])
    tree = front_matter.parse(text)
    whole = lines.parse(text)
    assert [text[node.raw[0] : node.raw[1]] for node in tree.children[:-1]] == [
        json.dumps(value) for value in header.values()
    ]
    found = [node.value for node in tree.children[-1].children]
    assert found == [node.value for node in whole.children[len(whole.children) - len(found) :]]
    assert len(whole.children) - len(found) - len(header) in (2, 3)


@given(st.text(max_size=200), st.sampled_from(["", "---\n", "---\na: b\n", "---\na: b\n---\n"]))
@settings(max_examples=examples(16, 100), deadline=None)
def test_any_text_is_read(text: str, start: str) -> None:
    form, tree = read("a.md", start + text)
    assert form in ("front_matter", "lines") and tree.raw == (0, len(start + text))


def test_a_time_in_the_header_is_a_field_beside_the_lines_that_changed() -> None:
    start = evidence({"a.md": CARD.format("2026-03-02T09:00:00Z", "Buy paint")})
    end = evidence({"a.md": CARD.format("2026-03-05T10:11:12Z", "Two photographs are needed")})
    found = [(item.address, item.kind) for item in effects(start, end, {})]
    assert found == [(("updated_at",), "changed"), (("text", "0"), "removed"), (("text", "0"), "added")]
