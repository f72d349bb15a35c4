"""Checks of changes since the start and of what the start held; of files and clipboard (App. E.2); of the
content of files, which is beyond the paper."""

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.evidence.sandbox_paths import last_part, relative_to_home
from taskloom.evaluators_api.state.nodes import identity
from taskloom.evaluators_api.state.reading import meaning, read
from taskloom.evaluators_api.state.records import belonging, holds, parts_of, records_of, text_of
from taskloom.evaluators_api.text_matching import document_contains, same_content, shown_in
from taskloom.taskgraph.text_folding import fold_text

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
    remaining = {"", *fields.values(), *(identity(record) for record in records_of(after))}
    lost_ids = {name for name in {identity(record) for record in lost} - remaining if not name.isdigit()}
    return not any(child.value in lost_ids for record in records_of(after) for child in record.children)


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
    before, after = _text_in(scene.start, file_path, field), _text_in(scene.view, file_path, field)
    if before is None or after is None or not text.strip():
        return False
    format_name = "" if field else read(file_path, after)[0]
    if format_name == _LEDGER:
        wanted = meaning(*read(file_path, f"{before.rstrip()}\n\n{text}\n"))
        found = meaning(*read(file_path, after))
        return [item.content() for item in wanted.children] == [item.content() for item in found.children]
    old, new, added = (
        [line.rstrip() for line in item.splitlines() if line.strip()] for item in (before, after, text)
    )
    return new == [*old, *added]


def _text_in(view: EvidenceView, path: str, field: str) -> str | None:
    if not field:
        file = view.file(path)
        return None if file is None or file.text is None else text_of_file(file)
    found = view.node(path, parts_of(field))
    return None if found is None else text_of(found)


@check("files", in_paper=True)
def check_file_exists(scene: Scene, file_path: str) -> bool:
    """Checks if the specified file exists; for folders see check_directory_exists.

    Example:
        check_file_exists(file_path='Downloads/diagram.xml')
    """
    return scene.view.file(file_path) is not None


@check("clipboard", in_paper=True)
def clipboard_contains_text(scene: Scene, text: str) -> bool:
    """Checks if the clipboard contains this text: all of it, or a phrase of a long one.

    Example:
        clipboard_contains_text(text='Total,1250')
    """
    content = scene.view.evidence.clipboard.text
    return content is not None and shown_in(text, content)


@check("clipboard", in_paper=True)
def clipboard_contains_image(scene: Scene) -> bool:
    """Checks if the clipboard contains an image.

    Example:
        clipboard_contains_image()
    """
    return scene.view.evidence.clipboard.image_sha256 is not None


@check("clipboard", in_paper=True)
def clipboard_contains_file(scene: Scene, file_name: str) -> bool:
    """Checks if the clipboard contains a copied file of this name.

    Args:
        file_name: Of a path the last part counts.

    Example:
        clipboard_contains_file(file_name='report.csv')
    """
    copied = scene.view.evidence.clipboard.file_name
    return copied is not None and same_content(last_part(file_name), last_part(copied))


@check("clipboard", in_paper=True)
def get_clipboard_text(scene: Scene, at_start: bool = False) -> str:
    """Gets the text in the clipboard.

    Example:
        'Total' in get_clipboard_text()
    """
    return scene.seen(at_start=at_start).evidence.clipboard.text or ""


@check("clipboard", in_paper=True)
def get_clipboard_file_name(scene: Scene) -> str:
    """Gets the name of the file in the clipboard.

    Example:
        get_clipboard_file_name() == 'report.csv'
    """
    return scene.view.evidence.clipboard.file_name or ""


@check("files")
def check_file_missing(scene: Scene, file_path: str) -> bool:
    """Checks if there is neither a file nor a folder at this path: deleted, moved away or renamed.

    Example:
        check_file_missing(file_path='Documents/old.txt')
    """
    exists = scene.view.file(file_path) is not None or scene.view.is_directory(file_path)
    return relative_to_home(file_path) is not None and not exists


@check("files")
def check_directory_exists(scene: Scene, path: str) -> bool:
    """Checks if the specified folder exists.

    Example:
        check_directory_exists(path='Documents/Project Files')
    """
    return scene.view.is_directory(path)


@check("files")
def check_file_contains(scene: Scene, file_path: str, text: str) -> bool:
    """Checks if the saved file contains this text as whole words. The best proof that something was saved.

    Databases are read as SQL text; entities and escapes of XML, HTML and JSON are undone.

    Example:
        check_file_contains(file_path='Documents/notes.md', text='Buy milk')
    """
    file = scene.view.file(file_path)
    if file is None:
        return False
    if document_contains(text, text_of_file(file)):
        return True
    text_of_file(file, whole=True)
    return False


@check("files")
def check_any_file_contains(scene: Scene, text: str, folder: str = "") -> bool:
    """Checks if some saved file contains this text as whole words, for applications that name their files
    themselves.

    The files in which an application keeps its own data (databases, notes) count.

    Args:
        folder: Only files below this folder; '' for all.

    Example:
        check_any_file_contains(text='Meeting notes')
    """
    below = relative_to_home(folder)
    if below is None or not fold_text(text):
        return False
    prefix = f"{below}/" if below else ""
    if any(document_contains(text, content) for path, content in scene.texts() if path.startswith(prefix)):
        return True
    scene.view.must_be_seen(below, below=True)
    for path, file in scene.view.files.items():
        if file.truncated and path.startswith(prefix):
            text_of_file(file, whole=True)
    return False


@check("files")
def check_file_count(scene: Scene, folder: str, count: int) -> bool:
    """Checks if exactly so many files are in the folder itself, not counting those in folders below it.

    Example:
        check_file_count(folder='Downloads', count=2)
    """
    below = relative_to_home(folder)
    if below is None or not scene.view.is_directory(folder):
        return False
    scene.view.must_be_seen(below, below=True)
    return sum(path.rpartition("/")[0] == below for path in scene.view.files) == count
