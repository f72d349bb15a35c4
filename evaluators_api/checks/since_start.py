"""Checks of what became of the state since the start, and of what it held before."""

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.state.nodes import identity
from taskloom.evaluators_api.state.reading import meaning, read
from taskloom.evaluators_api.state.records import belonging, holds, parts_of, records_of, text_of

_LEDGER = "ledger"


@check("files")
def check_file_changed(scene: Scene, file_path: str) -> bool:
    """Checks if the file, or folder, is not what it was at the start: made, changed or removed. What was
    there before is nobody's work.

    Args:
        file_path: Of a file or a folder.

    Example:
        check_file_changed(file_path='Downloads/report.csv')
    """
    before, after = scene.start.file(file_path), scene.view.file(file_path)
    if before is None or after is None:
        return before is not after or (
            scene.start.is_directory(file_path) is not scene.view.is_directory(file_path)
        )
    return before.sha256 != after.sha256 or before.text != after.text


@check("files", of="records")
def get_field(scene: Scene, file_path: str, field: str, at_start: bool = False) -> str:
    """Gets the value of the field at this address of the file.

    Example:
        check_clipboard_text(text=get_field(file_path='Documents/note.md', field='text', at_start=True))
    """
    found = scene.seen(at_start=at_start).node(file_path, parts_of(field))
    return "" if found is None else text_of(found)


@check("files", of="records")
def get_linked_field(
    scene: Scene, file_path: str, field: str, fields: dict[str, str], at_start: bool = False
) -> str:
    """Gets a field of what belongs to a record: of the record itself, or of the first that refers to it by
    its id.

    Example:
        check_file_text(file_path='a.txt', text=get_linked_field(file_path='flows.json', field='payload',
        fields={'label': 'A'}))
    """
    tree = scene.seen(at_start=at_start).tree(file_path)
    for record in belonging(tree, fields) if tree is not None else ():
        found = record.at((field,))
        if found is not None and text_of(found):
            return text_of(found)
    return ""


@check("files", of="records")
def get_record_count(scene: Scene, file_path: str, at_start: bool = False) -> str:
    """Gets the number of records of a file in digits, such as the rows of a table without its header.

    Example:
        check_file_text(file_path='Documents/count.txt',
        text=get_record_count(file_path='Documents/sales.csv', at_start=True))
    """
    tree = scene.seen(at_start=at_start).tree(file_path)
    if tree is None:
        return ""
    rows = tree.at(("rows",))
    return str(len(rows.children) if rows is not None else sum(1 for _ in records_of(tree)))


@check("files", of_source=True, of="records")
def check_record_gone(scene: Scene, file_path: str, fields: dict[str, str], within: str = "") -> bool:
    """Checks if a record with all these values was there at the start and none is there now: it was removed,
    or renamed.

    Of a record that was removed, all that referred to it by an id must be gone as well, unless the id is a
    number or one of the values given here.

    Example:
        check_record_gone(file_path='Documents/sales.csv', fields={'region': 'North'})
    """
    before, after = scene.start.tree(file_path), scene.view.tree(file_path)
    if before is None or after is None:
        return False
    lost = [record for record in records_of(before, within) if holds(record, fields)]
    if not lost or any(holds(record, fields) for record in records_of(after, within)):
        return False
    left = {"", *fields.values(), *(identity(record) for record in records_of(after))}
    gone = {known for known in {identity(record) for record in lost} - left if not known.isdigit()}
    return not any(child.value in gone for record in records_of(after) for child in record.children)


@check("files", of_source=True)
def check_text_extended(scene: Scene, file_path: str, text: str, field: str = "") -> bool:
    """Checks if the file, or one text in it, is what it was at the start with this text behind it, and
    nothing else.

    White space between the two and at the end does not count; nor do spaces between the values of a ledger.

    Args:
        text: What was added at the end, such as a line.
        field: '' for the file as a whole.

    Example:
        check_text_extended(file_path='Documents/diary.txt', text='It rained.')
    """
    before, after = _text(scene.start, file_path, field), _text(scene.view, file_path, field)
    if before is None or after is None or not text.strip():
        return False
    form = "" if field else read(file_path, after)[0]
    if form == _LEDGER:
        wanted = meaning(*read(file_path, f"{before.rstrip()}\n\n{text}\n"))
        found = meaning(*read(file_path, after))
        return [item.content() for item in wanted.children] == [item.content() for item in found.children]
    old, new, added = (_lines(item) for item in (before, after, text))
    return new == [*old, *added]


def _text(view: EvidenceView, path: str, field: str) -> str | None:
    if not field:
        file = view.file(path)
        return None if file is None or file.text is None else text_of_file(file)
    found = view.node(path, parts_of(field))
    return None if found is None else text_of(found)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]
