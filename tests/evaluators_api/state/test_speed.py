"""Reading and comparing takes time in proportion to the text, whatever is in it."""

import json

import pytest

from taskloom.evaluators_api.state.editing import rewritten
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.reading import read
from tests.evaluators_api.state.evidence import evidence
from tests.limits import work_within

SIZE = 20_000
HOSTILE = {
    "a.txt": ["x " * 200 + "\n", "\n", " ", "ab"],
    "a.csv": ['"', ",", "a,b\n", '"a""",', "\t"],
    "a.json": ["[", '{"a":', '"', '{"a":1},', "[[],"],
    "a.tid": ["a" + " " * 90, " ", "a:", "a: \n", "[x]\n", "k=" + " " * 90],
    "a.md": ["---\n", "---" + " " * 90 + "\n", "a: b\n", "\n", "- "],
    "a.xml": ["<", "<a>", "<!--", "<a b='", "&amp;", "<a b=1 ", "</a>"],
    "a.yaml": ["- ", "a: ", "&a ", "{", "? ", "  - x\n"],
    "a.beancount": [
        "2024-01-01 * ",
        "  A:b " + " " * 90,
        '2024-01-01 * "a"\n  A:b  1\n',
        "  k: " + " " * 90,
        "\\",
    ],
    "a.db": ["INSERT INTO ", 'INSERT INTO "t" VALUES(\'', "''", 'CREATE TABLE "a"("', "(", "1, "],
}
STARTS = {
    "a.json": ["", "["],
    "a.tid": ["", "k: "],
    "a.md": ["---\n"],
    "a.xml": ["", "<a>"],
    "a.beancount": ["", '2024-01-01 * "a"\n'],
    "a.db": ["", 'INSERT INTO "t" VALUES(1, \'', 'CREATE TABLE "t"("a"); -- 1 row\nINSERT INTO "t" VALUES('],
}


@pytest.mark.parametrize("path", sorted(HOSTILE))
@pytest.mark.slow
def test_hostile_texts_of_the_largest_size_are_compared_within_seconds(path: str) -> None:
    for start in STARTS.get(path, [""]):
        for unit in HOSTILE[path]:
            text = start + unit * (SIZE // len(unit))
            with work_within(10):
                effects(
                    evidence({path: text}),
                    evidence({path: "y" + text[: SIZE // 2] + "z" + text[SIZE // 2 :]}),
                    {},
                )


def test_many_changed_lines_are_compared_within_seconds() -> None:
    before = "".join(f"{number} {'lorem ipsum ' * 20}\n" for number in range(240))
    after = "".join(f"{'dolor amet ' * 21} {number}\n" for number in range(240))
    with work_within(10):
        found = effects(evidence({"a.txt": before}), evidence({"a.txt": after}), {})
    assert len(found) == 480


def test_files_that_did_not_change_are_not_read() -> None:
    files = {f"{number}.json": "[" * 30_000 for number in range(500)}
    with work_within(5):
        assert effects(evidence(files), evidence(files), {}) == ()


def test_many_values_of_several_kinds_are_edited_within_seconds() -> None:
    """What is written in several ways is not tried value by value."""
    items = [{"id": str(number), "n": -number, "x": None, "name": f"N {number}"} for number in range(300)]
    text = json.dumps(items)
    leaves = [node for _, node in read("a.json", text)[1].walk() if node.value]
    with work_within(5):
        edited = rewritten("a.json", text, [(node, f"{node.value} & more") for node in leaves])
    assert edited is not None and edited.count(" & more") == len(leaves)
