"""Checks of whole contents: archives packed and unpacked, exact texts, and copies of what sources held at the
start of the subtask."""

import json
import re

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.evidence.sandbox_paths import last_part, relative_to_home
from taskloom.evaluators_api.state.comparison import compare
from taskloom.evaluators_api.state.formats import delimited
from taskloom.evaluators_api.state.reading import FALLBACK, meaning, read
from taskloom.evaluators_api.text_matching import document_contains, same_content, with_plain_headings
from taskloom.taskgraph.records.evidence import CLIPBOARD, FileState
from taskloom.taskgraph.text_folding import composed, exact_text

_UNREAD_MEMBER = re.compile(r"[0-9a-f]{8}")
"""An archive's own checksum, of a member that evidence did not read; otherwise a SHA-256 digest."""
_Member = tuple[str, str]
"""Path and digest of a file."""
_JSON = "json_tree"
_DOCUMENT, _PDF = "document", "pdf"
_TEXT_CONTENTS = frozenset({"text", "packed", "playlist", _DOCUMENT})


@check("files", of_source=True)
def check_packed(scene: Scene, source: str, target: str) -> bool:
    """Checks if an archive holds a file as it was at the start, under its name; or all files that a folder
    held, at their places in it, and no others.

    They may be at the top of the archive or in folders such as the packed one.

    Example:
        check_packed(source='Documents/archive', target='Downloads/archive.zip')
    """
    members, file = _members(scene.view, target), scene.start.file(source)
    if file is not None:
        return _is_among(file, members)
    files = _files_below(scene.start, source)
    if not members or not files:
        return False
    first = min(files)[0]
    prefixes = {path.removesuffix(first) for path, _ in members if f"/{path}".endswith(f"/{first}")}
    return any(members == {(prefix + path, digest) for path, digest in files} for prefix in prefixes)


@check("files", of_source=True)
def check_unpacked(scene: Scene, source: str, target: str) -> bool:
    """Checks if what lay in an archive at the start was taken out of it: the target is one of its files, or a
    folder with all of them in it or below it, under the names that they had in the archive.

    Example:
        check_unpacked(source='Documents/meeting.zip', target='Documents/archive')
    """
    members, file = _members(scene.start, source), scene.view.file(target)
    if file is not None:
        return _is_among(file, members)
    files = _files_below(scene.view, target)
    return bool(members) and all(
        any(digest == other and f"/{place}".endswith(f"/{path}") for place, other in files)
        for path, digest in members
    )


def _is_among(file: FileState, members: set[_Member]) -> bool:
    """Whether an archive holds the file under its name, in whichever folder."""
    return (last_part(file.path), file.sha256) in {(last_part(path), digest) for path, digest in members}


def is_archive(file: FileState) -> bool:
    """Whether evidence describes a file by the files packed in it."""
    return file.content in (None, "archive") and delimited.recognises(file.text or "")


def _members(view: EvidenceView, path: str) -> set[_Member]:
    """The files in an archive; none for any other file.

    Raises:
        CheckUnavailableError: there are too many to be known, or one is too large.
    """
    archive = view.file(path)
    if archive is None or not is_archive(archive):
        return set()
    members = set()
    for row in read("", text_of_file(archive, whole=True))[1].parts(("rows",)):
        member, _, checksum = (*(cell.value or "" for cell in row.children), "", "", "")[:3]
        if _UNREAD_MEMBER.fullmatch(checksum):
            raise CheckUnavailableError(f"What {member[:200]} in {archive.path[:200]} holds was not read.")
        members.add((member.removeprefix("./"), checksum))
    return members


def _files_below(view: EvidenceView, folder: str) -> set[_Member]:
    place = relative_to_home(folder)
    if not place:
        return set()
    view.must_be_seen(place, below=True)
    prefix = f"{place}/"
    files = ((path, file.sha256) for path, file in view.files.items() if path.startswith(prefix))
    return {(path.removeprefix(prefix), digest) for path, digest in files}


@check("files")
def check_file_text(scene: Scene, file_path: str, text: str) -> bool:
    """Checks if the text of the file is exactly this, from its first character to its last.

    Compared exactly. In Markdown (.md) it does not matter how a heading is marked and whether a blank line
    follows it; blank lines of a document are its layout, and a PDF has none, nor spaces around lines.

    Example:
        check_file_text(file_path='Documents/note.txt', text='Buy milk')
    """
    file = scene.view.file(file_path)
    if file is None or file.content == "":
        return False
    found, wanted = exact_text(text_of_file(file, whole=True)), exact_text(text)
    if file.content in (_DOCUMENT, _PDF):
        found, wanted = (
            "\n".join(
                line.strip() if file.content == _PDF else line for line in text.splitlines() if line.strip()
            )
            for text in (found, wanted)
        )
    return found == wanted or (
        file.path.casefold().endswith(".md") and with_plain_headings(found) == with_plain_headings(wanted)
    )


@check("files", of="records")
def check_file_data(scene: Scene, file_path: str, text: str) -> bool:
    """Checks if the file holds the same data as this text: JSON, YAML, settings or a ledger, however it is
    laid out.

    Spaces and line breaks between values and the order of fields do not count, nor whether a ledger leaves
    out the amount that balances a transaction. Values must be the same, case included, and there must be no
    others; in JSON a number in quotation marks is another value.

    Args:
        file_path: Its ending tells the format.

    Example:
        check_file_data(file_path='Documents/config.json', text='{"theme": "dark"}')
    """
    file = scene.view.file(file_path)
    if file is None:
        return False
    wanted, found = read(file.path, text), read(file.path, text_of_file(file, whole=True))
    if wanted[0] == FALLBACK or found[0] == FALLBACK:
        return exact_text(text_of_file(file, whole=True)) == exact_text(text)
    return (
        wanted[0] == found[0]
        and not compare(meaning(*wanted), meaning(*found))
        and (wanted[0] != _JSON or _canonical_json(text) == _canonical_json(text_of_file(file, whole=True)))
    )


def _canonical_json(text: str) -> str:
    """JSON in canonical form, in which 5 differs from "5"."""
    try:
        plain = json.dumps(json.loads(text, parse_int=float, parse_constant=str), ensure_ascii=False)
        return json.dumps(json.loads(composed(plain)), sort_keys=True)
    except (ValueError, RecursionError):
        return text


@check("clipboard")
def check_clipboard_text(scene: Scene, text: str) -> bool:
    """Checks if the text in the clipboard is exactly this; a part of it is not enough.

    Compared exactly.

    Example:
        check_clipboard_text(text='Total,1250')
    """
    content = scene.view.evidence.clipboard.text
    return content is not None and exact_text(content) == exact_text(text)


@check("files")
def get_file_text(scene: Scene, file_path: str, at_start: bool = False) -> str:
    """Gets the text of a file; of one that is no text it is empty.

    Example:
        get_file_text(file_path='Documents/note.txt').startswith(get_file_text(file_path='Documents/note.txt',
        at_start=True))
    """
    file = scene.seen(at_start=at_start).file(file_path)
    return "" if file is None or file.content == "" else text_of_file(file, whole=True)


@check("files", of_source=True)
def check_copied(scene: Scene, source: str, target: str, whole: bool = True) -> bool:
    """Checks if the target holds what the source held at the start, if it held anything: copied, pasted,
    moved, attached.

    Args:
        source: A file, or 'clipboard'.
        target: A file, or 'clipboard'; of a folder, one of the files below it, however it is called.
        whole: Whether the target must hold that and nothing else; False if it may stand among other text, as
            an attachment stands in a message, or once in a document, as a picture does.

    Example:
        check_copied(source='clipboard', target='Documents/note.txt', whole=False)
    """
    original = scene.start.place(source)
    if original is not None and target != CLIPBOARD and scene.view.is_directory(target):
        below = f"{relative_to_home(target)}/"
        files = [file for path, file in scene.view.files.items() if path.startswith(below)]
        return any(_is_copy(scene, source, original, file, whole) for file in files)
    copy = scene.view.place(target)
    return original is not None and copy is not None and _is_copy(scene, source, original, copy, whole)


def _is_copy(scene: Scene, source: str, original: FileState, copy: FileState, whole: bool) -> bool:
    if original.sha256 and original.sha256 == copy.sha256:
        return original.size > 0
    if not whole and original.size and copy.text is not None:
        # something that is not text, such as an attached picture
        times = text_of_file(copy, whole=True).count(original.sha256)
        if times:
            return times == 1 or copy.content != _DOCUMENT
    if CLIPBOARD not in (source, copy.path) and not _are_comparable(original, copy):
        return False
    copied_file = scene.view.evidence.clipboard.file_name if copy.path == CLIPBOARD != source else None
    if copied_file is not None and same_content(last_part(source), last_part(copied_file)):
        return True  # the clipboard holds the file itself rather than its text
    wanted, found = text_of_file(original, whole=True), text_of_file(copy, whole=True)
    if not wanted.strip():
        return False
    return exact_text(wanted) == exact_text(found) if whole else document_contains(wanted, found)


def _are_comparable(first: FileState, second: FileState) -> bool:
    """Whether the texts of two files with different bytes can prove them copies: both describe the same kind
    of content, or one is plain text, and each describes all of it, unlike the lines of a PDF document."""
    if first.text is None or second.text is None:
        return first.size == second.size
    contents = {first.content, second.content}
    return None in contents or ("pdf" not in contents and (len(contents) == 1 or contents <= _TEXT_CONTENTS))
