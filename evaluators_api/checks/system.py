"""Checks of files and clipboard (App. E.2), and of what files hold, which is beyond the paper."""

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.evidence.sandbox_paths import last_part, relative_to_home
from taskloom.evaluators_api.text_matching import document_contains, same_content, shown_in
from taskloom.taskgraph.text_folding import fold_text


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
    held = scene.view.evidence.clipboard.text
    return held is not None and shown_in(text, held)


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
    held = scene.view.evidence.clipboard.file_name
    return held is not None and same_content(last_part(file_name), last_part(held))


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
    inside = relative_to_home(file_path)
    return (
        inside is not None and scene.view.file(file_path) is None and not scene.view.is_directory(file_path)
    )


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
    inside = f"{below}/" if below else ""
    if any(document_contains(text, content) for path, content in scene.texts() if path.startswith(inside)):
        return True
    scene.view.must_be_seen(below, below=True)
    for path, file in scene.view.files.items():
        if file.truncated and path.startswith(inside):
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
