"""Every format of state keeps the same promises: values at addresses, edits that say exactly what they say,
no raise."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.comparison import compare
from taskloom.evaluators_api.state.editing import rewritten, undo_change
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import all_formats, read
from tests.evaluators_api.state.examples import EXAMPLES
from tests.shared_work import examples

FORMATS = sorted(all_formats())


def _leaves(tree: Node) -> dict[tuple[str, ...], str]:
    return {address: node.value for address, node in tree.walk() if node.value is not None}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_an_example_that_it_reads(name: str) -> None:
    path, text = EXAMPLES[name]
    assert read(path, text)[0] == name


@pytest.mark.parametrize("name", FORMATS)
def test_names_are_unique_among_siblings_and_places_lie_inside_their_group(name: str) -> None:
    path, text = EXAMPLES[name]
    for _, node in read(path, text)[1].walk():
        assert len({child.name for child in node.children}) == len(node.children)
        assert 0 <= node.raw[0] <= node.raw[1] <= len(text)
        if node.extent is not None:
            assert node.extent[0] <= node.raw[0] and node.raw[1] <= node.extent[1]


@pytest.mark.parametrize("name", FORMATS)
@given(value=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30))
@settings(max_examples=examples(8, 25), deadline=None)
def test_replacing_a_leaf_changes_that_leaf_alone(name: str, value: str) -> None:
    path, text = EXAMPLES[name]
    before = _leaves(read(path, text)[1])
    for address, node in read(path, text)[1].walk():
        if node.value is None or address[-1].startswith("@id") or address[-1] in ("id", "columns"):
            continue
        if name == "database" and "columns" in address:
            continue
        if name == "delimited" and address[0] == "header":
            continue
        edited = rewritten(path, text, [(node, value)])
        assert edited is None or _leaves(read(path, edited)[1]) == {**before, address: value}


@pytest.mark.parametrize("name", FORMATS)
def test_removing_a_part_removes_it_alone_and_undoing_brings_the_text_back(name: str) -> None:
    form = all_formats()[name]
    path, text = EXAMPLES[name]
    tree = form.parse(text)
    tried = 0
    for address, node in tree.walk():
        if node.extent is None:
            continue
        less = text[: node.extent[0]] + text[node.extent[1] :]
        try:
            shorter = form.parse(less)
        except StateUnreadableError:
            assert len(tree.children) == 1
            continue
        back = compare(shorter, tree)
        assert back, address
        assert undo_change(path, less, text, back[0]) is not None or len(back) > 1
        gone = compare(tree, shorter)
        assert any(change.kind == "removed" for change in gone), address
        restored = undo_change(path, text, less, gone[0])
        if restored is not None and len(gone) == 1:
            assert sorted(_leaves(form.parse(restored)).values()) == sorted(_leaves(tree).values())
            tried += 1
    assert tried


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@settings(max_examples=examples(16, 50), deadline=None)
def test_broken_texts_are_refused_in_one_way_and_then_read_as_lines(name: str, data: st.DataObject) -> None:
    path, text = EXAMPLES[name]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    broken = text[:start] + data.draw(st.text(max_size=8)) + text[end:]
    form = all_formats()[name]
    if hasattr(form, "recognises"):
        form.recognises(broken)
    try:
        form.parse(broken)
    except StateUnreadableError:
        assert read(path, broken)[0] != name
    else:
        assert read(path, broken)[0] in FORMATS


CREATED = 'CREATE TABLE "o"("id" PRIMARY KEY, "item", "amount", "note"); -- 2 rows\n'
SEVERAL = [
    ("orders.csv", 'id,name,n\n1,"Bread, old",8\n2,Milk,6\n'),
    (
        "orders.db",
        CREATED + "INSERT INTO \"o\" VALUES(1,'It''s, ok',8,'new thing');\n"
        "INSERT INTO \"o\" VALUES(2,'Tea',3,NULL);\n",
    ),
    ("list.xml", '<r><i id="a" n="5">Bread &amp; "b"</i><i id="b" n="2">Tea</i></r>'),
    ("list.json", '[{"id": "a", "name": "Two, \\"x\\"", "n": 7}, {"id": "b", "name": "-7", "n": 9}]'),
]


@pytest.mark.parametrize(("path", "text"), SEVERAL)
def test_values_that_change_places_are_each_written_as_their_place_asks(path: str, text: str) -> None:
    """A number and a text of two words, what needs quotation marks and what needs none."""
    tree = read(path, text)[1]
    leaves = [(address, node) for address, node in tree.walk() if node.value]
    refused = 0
    for (_, one), (_, other) in combinations(leaves, 2):
        if one.value == other.value:
            continue
        edited = rewritten(path, text, [(one, other.value), (other, one.value)])
        if edited is None:
            refused += 1
            continue
        found = [node.value for _, node in read(path, edited)[1].walk() if node.value]
        swapped = {id(one): other.value, id(other): one.value}
        assert found == [swapped.get(id(node), node.value) for _, node in leaves]
    assert refused == (4 if path.endswith(".db") else 0)  # the number of rows, which is a number
