"""Evidence in which a sibling was removed instead: another row, another file under a made-up name."""

from __future__ import annotations

import hashlib

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.removing import removed_elsewhere
from taskloom.taskgraph.records.evidence import Evidence, FileState

TABLE = 'CREATE TABLE "books"("id" PRIMARY KEY, "title"); -- {n} rows\n{rows}'
ROWS = [
    f"INSERT INTO \"books\" VALUES({n}, '{title}');\n"
    for n, title in enumerate(("Emma", "Walden", "Dracula"), 1)
]
FOLDER = ".applications/watches/{}/watch.json"
NAMES = (
    "5f0c7a52-9a3e-4d1c-8b7f-0c5d2e1a9b01",
    "6a1d8b63-0b4f-4e2d-9c80-1d6e3f2b0c12",
    "7b2e9c74-1c50-4f3e-8d91-2e7f403c1d23",
)


def state(**texts: str) -> Evidence:
    """Evidence with these files."""
    files = [
        FileState(path=path, size=len(text), sha256=hashlib.sha256(text.encode()).hexdigest(), text=text)
        for path, text in sorted(texts.items())
    ]
    folders = {path.rpartition("/")[0] for path in texts}
    return Evidence(step=0, files=tuple(files), directories=tuple(sorted(folders)))


def database(*numbers: int) -> Evidence:
    """Evidence with a table of these rows."""
    rows = "".join(ROWS[number - 1] for number in numbers)
    return state(**{".applications/library/library.db": TABLE.format(n=len(numbers), rows=rows)})


def test_another_row_is_gone_and_the_right_one_is_back() -> None:
    start, end = database(1, 2, 3), database(1, 3)
    (removed,) = [item for item in effects(start, end, {}) if item.kind == "removed"]
    (edited,) = removed_elsewhere(start, end, removed)
    _, tree = read("library.db", edited.evidence.files[0].text or "")
    titles = {node.value for _, node in tree.walk() if node.name == "title"}
    assert "Walden" in titles and len(titles & {"Emma", "Dracula"}) == 1
    assert "was removed instead of" in edited.description


def test_another_file_of_the_kind_is_gone_with_its_folder_and_the_right_one_is_back() -> None:
    records = {FOLDER.format(name): f'{{"title": "watch {name[:2]}"}}' for name in NAMES}
    gone = FOLDER.format(NAMES[1])
    start = state(**records, **{"Documents/a.txt": "a"})
    end = state(**{path: text for path, text in records.items() if path != gone}, **{"Documents/a.txt": "a"})
    (removed,) = [item for item in effects(start, end, {}) if item.area == "file"]
    (edited,) = removed_elsewhere(start, end, removed)
    paths = {file.path for file in edited.evidence.files}
    assert gone in paths and "Documents/a.txt" in paths and len(paths) == 3
    lost = next(path for path in records if path not in paths)
    assert lost.rpartition("/")[0] not in edited.evidence.directories
    assert gone.rpartition("/")[0] in edited.evidence.directories


def test_what_has_no_sibling_or_was_not_removed_is_left_alone() -> None:
    alone = state(**{"Documents/a.txt": "a"})
    (removed,) = [item for item in effects(alone, state(), {}) if item.area == "file"]
    assert list(removed_elsewhere(alone, state(), removed)) == []
    for added in effects(state(), alone, {}):
        assert list(removed_elsewhere(state(), alone, added)) == []
