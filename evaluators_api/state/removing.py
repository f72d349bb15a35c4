"""Evidence in which something of the same kind was removed instead of what a performance removed, or only
what was in it."""

from __future__ import annotations

from collections.abc import Iterator

from taskloom.evaluators_api.state.editing import Edited, undone, with_text, without_files
from taskloom.evaluators_api.state.reading import finished, read
from taskloom.evaluators_api.state.records import is_lines
from taskloom.evaluators_api.state.templates import steady_path
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState, is_open_document

_SHOWN = 60
_ROWS = "rows"


def removed_elsewhere(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with what `effect` removed back in its place, and a sibling gone instead: another row, another
    file of the kind."""
    if effect.area != "file" or effect.kind != "removed":
        return
    restored = undone(start, end, effect)
    if restored is None:
        return
    if effect.address:
        yield from _sibling_in_file(start, restored, effect)
    else:
        yield from _sibling_file(start, restored, effect)


def only_emptied(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with what `effect` removed still there and nothing in it: a table without its rows, a note
    without its text."""
    if effect.area == "file" and effect.kind == "removed" and not effect.address:
        yield from _emptied_file(start, end, effect.container)
        return
    restored = undone(start, end, effect) if effect.area == "file" and effect.address else None
    file = None if restored is None else _file(restored, effect.container)
    if restored is None or file is None or file.text is None or effect.kind != "removed":
        return
    name, tree = read(file.path, file.text)
    group = tree.at(effect.address)
    rows = None if group is None else group.at((_ROWS,))
    text = file.text
    for node in reversed(rows.children if rows is not None else ()):
        if node.extent is not None:
            text = text[: node.extent[0]] + text[node.extent[1] :]
    text = finished(name, file.text, text)
    if text != file.text and read(file.path, text)[0] == name:
        told = f"{file.path}: {' / '.join(effect.address)} is still there and only empty"
        yield Edited(told, with_text(restored, file.path, text))


def _emptied_file(start: Evidence, end: Evidence, path: str) -> Iterator[Edited]:
    """`end` with a file that is gone there again, without the longest of the texts in it."""
    file = _file(start, path)
    if file is None or not file.text:
        return
    name, tree = read(path, file.text)
    texts = [node for _, node in tree.walk() if node.value is not None or is_lines(node)]
    longest = max(texts, key=lambda node: node.raw[1] - node.raw[0], default=None)
    text = (
        ""
        if longest is None or longest is tree
        else file.text[: longest.raw[0]] + file.text[longest.raw[1] :]
    )
    if not text or read(path, text)[0] == name:
        yield Edited(f"{path} is still there and only empty", with_text(end, path, text))


def _sibling_in_file(start: Evidence, restored: Evidence, effect: Effect) -> Iterator[Edited]:
    old, new = _file(start, effect.container), _file(restored, effect.container)
    if old is None or new is None or old.text is None or new.text is None:
        return
    name, tree = read(new.path, new.text)
    parent, before = tree.at(effect.address[:-1]), read(old.path, old.text)[1].at(effect.address[:-1])
    if parent is None or before is None:
        return
    gone = next((node for node in before.children if node.name == effect.address[-1]), None)
    known = {node.digest for node in before.children if node is not gone}
    for node in parent.children:
        if (
            node.extent is None
            or node.digest not in known
            or (gone is not None and node.digest == gone.digest)
        ):
            continue
        begin, finish = node.extent
        text = finished(name, new.text, new.text[:begin] + new.text[finish:])
        if read(new.path, text)[0] == name:
            yield Edited(
                f"{new.path}: {node.content()[:_SHOWN]!r} was removed instead of"
                f" {' / '.join(effect.address)}",
                with_text(restored, new.path, text),
            )
            return


def _sibling_file(start: Evidence, restored: Evidence, effect: Effect) -> Iterator[Edited]:
    own, kind = effect.container, _kind(effect.container)
    left = {file.path: file.sha256 for file in restored.files}
    for file in start.files:
        if file.path == own or _kind(file.path) != kind or is_open_document(file.path):
            continue
        if left.get(file.path) != file.sha256:
            continue
        rest = without_files(restored, {file.path})
        still = {item.path.rpartition("/")[0] for item in rest.files}
        emptied = file.path.rpartition("/")[0]
        directories = {
            *rest.directories,
            *(path for path in start.directories if f"{own}/".startswith(f"{path}/")),
        }
        if emptied not in still and emptied != own.rpartition("/")[0]:
            directories -= {emptied}
        yield Edited(
            f"{file.path} was removed instead of {own}",
            rest.model_copy(update={"directories": tuple(sorted(directories))}),
        )
        return


def _kind(path: str) -> tuple[str, str]:
    """What files have in common that can be taken for each other: folder and ending, names that an
    application makes up left out."""
    folder, _, name = steady_path(path).rpartition("/")
    return folder, name.rpartition(".")[2] if "." in name else ""


def _file(evidence: Evidence, path: str) -> FileState | None:
    return next((file for file in evidence.files if file.path == path), None)
