"""Evidence: everything that checks may read, recorded after every step. Evaluation functions are pure
functions of it, so they can be run again at any time without a screen."""

from typing import Literal

from taskloom.resources.applications import ControlQuery
from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Control, Screenshot

OPEN_DOCUMENT = "open document"
"""Name, without its suffix, of the file of an application that represents the document open in an editor."""
_APPLICATIONS = ".applications"


def is_open_document(path: str) -> bool:
    """Whether `path` stands for a document open in an editor, which may be unsaved.

    >>> is_open_document(".applications/desk/open document.drawio"), is_open_document("Documents/open document.drawio")
    (True, False)
    """  # noqa: E501
    folder, _, name = path.rpartition("/")
    return folder.startswith(f"{_APPLICATIONS}/") and name.rpartition(".")[0] == OPEN_DOCUMENT


class InputEvent(Record):
    """One input event from the agent."""

    step: int
    """Step in which it was made, from 1."""
    kind: Literal["click", "text", "key", "wheel", "drag", "move", "hold"]
    """`text` is characters typed, `key` a named key or a chord such as `ctrl+s`."""
    control: ControlQuery | None = None
    """The control that was hit or focused."""
    application: str = ""
    """Application in front."""
    text: str = ""
    """Characters typed, or the key or chord pressed, or the mouse button (`left`, `left double`)."""


CLIPBOARD = "clipboard"
"""Stands for the clipboard in place of a file's path."""
ARCHIVE_HEADER = "member\tsize\tchecksum\n"
"""First line of the text of an archive; one line per member follows."""


class FileState(Record):
    """A file under the sandbox home."""

    path: str
    """Path relative to the sandbox home, with forward slashes, in composed Unicode (NFC)."""
    size: int
    """Bytes."""
    sha256: str
    """Hash of the content."""
    text: str | None = None
    """Text content up to a limit, without a byte order mark and in composed Unicode (NFC): a SQLite database
    as SQL, an archive as a table of its members, a compressed text decompressed, a document as its lines, a
    picture as JSON with its size and colours. None for other content that is not text in UTF-8, or in UTF-16
    or UTF-32 with a mark, and for links, which are never followed."""
    content: str | None = None
    """What `text` was made of: `text` (unchanged), `database`, `archive`, `packed`, `workbook`, `xournal`,
    `project`, `homebank`, `playlist`, `bookmarks`, `document` (of a word processor), `pdf` or `picture`;
    empty without text; None where it is unknown."""
    truncated: bool = False
    """Whether `text` is incomplete: cut at the limit, or without the older rows of a database."""
    part_of: str = ""
    """Path of the database whose log this is; its contents are in the text of that database."""


class ClipboardState(Record):
    """The contents of the clipboard."""

    text: str | None = None
    """Text, if any."""
    image_sha256: str | None = None
    """Hash of the image, if any."""
    file_name: str | None = None
    """Name of the file, if one was copied."""


class Evidence(Record):
    """The state of an environment after a step, together with the inputs made so far."""

    step: int
    """Number of steps made; 0 is the state after reset."""
    inputs: tuple[InputEvent, ...] = ()
    """All inputs since the reset, oldest first."""
    screenshot: Screenshot | None = None
    """Last screen."""
    screen: str = ""
    """Contents of the display, as the text of a picture; empty where no application needs it."""
    controls: tuple[Control, ...] = ()
    """Controls on it."""
    text_under_cursor: str = ""
    """Text of the control under the mouse pointer."""
    clipboard: ClipboardState = ClipboardState()
    """The clipboard."""
    selection: str = ""
    """Text selected in any window (a desktop's primary selection); empty on other platforms."""
    files: tuple[FileState, ...] = ()
    """Files under the sandbox home, sorted by path."""
    directories: tuple[str, ...] = ()
    """Directories under the sandbox home, sorted."""
    unseen: tuple[str, ...] = ()
    """Paths whose state is unknown: unreadable ones, names that look the same, and folders with more entries
    than are recorded. Nothing below them is known either."""
    active_application: str = ""
    """Application in front."""
    window_title: str = ""
    """Title of the window in front."""
    url: str = ""
    """Address of the page in front, without the port."""
    blocked_requests: tuple[str, ...] = ()
    """Addresses outside the loopback interface that were refused since the reset."""
    noise: tuple[NoisePlace, ...] = ()
    """Measured noise of the applications; empty where it was not measured."""

    def file(self, path: str) -> FileState | None:
        """The file at exactly this path, or None."""
        return next((file for file in self.files if file.path == path), None)

    def files_by_path(self) -> dict[str, FileState]:
        """All files by their paths."""
        return {file.path: file for file in self.files}
