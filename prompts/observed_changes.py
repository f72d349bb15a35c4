"""What a performance changed, as the evaluation writer is shown it."""

from __future__ import annotations

from resources.record import Record


class FileChange(Record):
    """A file whose text changed."""

    path: str
    """Path relative to the sandbox home."""
    added_lines: tuple[str, ...] = ()
    """Lines that are new."""
    removed_lines: tuple[str, ...] = ()
    """Lines that are gone."""


class ObservedChange(Record):
    """The difference between two pieces of evidence. Long lists are cut; the cut is no promise of absence."""

    created_files: tuple[str, ...] = ()
    """Paths of new files."""
    deleted_files: tuple[str, ...] = ()
    """Paths of files that are gone."""
    changed_files: tuple[str, ...] = ()
    """Paths of files with other content."""
    texts: tuple[FileChange, ...] = ()
    """Changed text of new and changed files."""
    created_directories: tuple[str, ...] = ()
    """New directories."""
    deleted_directories: tuple[str, ...] = ()
    """Directories that are gone."""
    clipboard_text: str | None = None
    """Text now in the clipboard, if it changed."""
    clipboard_image: bool = False
    """Whether an image came into the clipboard."""
    clipboard_file: str | None = None
    """File now in the clipboard, if it changed."""
    clipboard_text_in: tuple[str, ...] = ()
    """Files that hold the text that is in the clipboard now."""
    window_title: str | None = None
    """Window title, if it changed."""
    appeared_texts: tuple[str, ...] = ()
    """Texts and contents of controls that were not on the screen before."""
    vanished_texts: tuple[str, ...] = ()
    """Texts of controls that are no longer on the screen."""
    clicked: tuple[str, ...] = ()
    """Texts of the controls clicked."""
    typed: tuple[str, ...] = ()
    """Texts typed."""
    keys: tuple[str, ...] = ()
    """Keys and chords pressed."""
