"""Checks of archives: what was packed, and what was unpacked."""

import re
from collections.abc import Iterator

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.evidence.sandbox_paths import last_part, relative_to_home
from taskloom.evaluators_api.state.formats import delimited
from taskloom.evaluators_api.state.reading import read
from taskloom.taskgraph.records.evidence import FileState

_NOT_READ = re.compile(r"[0-9a-f]{8}")
"""The checksum of what evidence did not read, as the archive states it; else it is a SHA-256 digest."""
_Member = tuple[str, str]
"""Path and digest of a file."""


@check("files", of_source=True)
def check_packed(scene: Scene, source: str, target: str) -> bool:
    """Checks if an archive holds a file as it was at the start, under its name; or all files that a folder
    held, at their places in it, and no others.

    They may be at the top of the archive or in folders such as the packed one.

    Example:
        check_packed(source='Documents/archive', target='Downloads/archive.zip')
    """
    packed = _packed(scene.view, target)
    file = scene.start.file(source)
    if file is not None:
        return _is_among(file, packed)
    held = set(_below(scene.start, source))
    if not packed or not held:
        return False
    first = min(held)[0]
    places = {path.removesuffix(first) for path, _ in packed if f"/{path}".endswith(f"/{first}")}
    return any(packed == {(place + path, digest) for path, digest in held} for place in places)


@check("files", of_source=True)
def check_unpacked(scene: Scene, source: str, target: str) -> bool:
    """Checks if what lay in an archive at the start was taken out of it: the target is one of its files, or a
    folder with all of them in it or below it, under the names that they had in the archive.

    Example:
        check_unpacked(source='Documents/meeting.zip', target='Documents/archive')
    """
    packed = _packed(scene.start, source)
    file = scene.view.file(target)
    if file is not None:
        return _is_among(file, packed)
    held = list(_below(scene.view, target))
    return bool(packed) and all(
        any(digest == other and f"/{place}".endswith(f"/{path}") for place, other in held)
        for path, digest in packed
    )


def _packed(view: EvidenceView, path: str) -> set[_Member]:
    archive = view.file(path)
    return set() if archive is None else set(_members(archive))


def _is_among(file: FileState, packed: set[_Member]) -> bool:
    """Whether an archive holds the file under its name, in whichever folder."""
    return (last_part(file.path), file.sha256) in {(last_part(path), digest) for path, digest in packed}


def is_archive(file: FileState) -> bool:
    """Whether a file is told by what is packed in it."""
    return file.content in (None, "archive") and delimited.recognises(file.text or "")


def _members(archive: FileState) -> Iterator[_Member]:
    """The files in an archive; nothing of any other file.

    Raises:
        CheckUnavailableError: there are too many to be known, or one is too large.
    """
    if not is_archive(archive):
        return
    rows = read("", text_of_file(archive, whole=True))[1].at(("rows",))
    for row in rows.children if rows is not None else ():
        member, _, checksum = (*(cell.value or "" for cell in row.children), "", "", "")[:3]
        if _NOT_READ.fullmatch(checksum):
            raise CheckUnavailableError(f"What {member[:200]} in {archive.path[:200]} holds was not read.")
        yield member.removeprefix("./"), checksum


def _below(view: EvidenceView, folder: str) -> Iterator[_Member]:
    place = relative_to_home(folder)
    if not place:
        return
    view.must_be_seen(place, below=True)
    inside = f"{place}/"
    for path, file in view.files.items():
        if path.startswith(inside):
            yield path.removeprefix(inside), file.sha256
