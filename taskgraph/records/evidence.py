"""Evidence: all that the checks may read, recorded after every step. An evaluation function is a pure
function of it, so it can be run again at any time without a screen."""

from typing import Literal

from taskloom.resources.applications import ControlQuery
from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Control, Screenshot

OPEN_DOCUMENT = "open document"
"""Name without ending under which the document that an editor holds open is a file of its application."""
_APPLICATIONS = ".applications"


def is_open_document(path: str) -> bool:
    """Whether it stands for a document that an editor holds open and has perhaps not saved.

    >>> is_open_document(".applications/desk/open document.drawio"), is_open_document("Documents/open document.drawio")
    (True, False)
    """  # noqa: E501
    folder, _, name = path.rpartition("/")
    return folder.startswith(f"{_APPLICATIONS}/") and name.rpartition(".")[0] == OPEN_DOCUMENT


class InputEvent(Record):
    """One input that the agent made."""

    step: int
    """Step it was made at, from 1."""
    kind: Literal["click", "text", "key", "wheel", "drag", "move", "hold"]
    """`text` is characters typed, `key` a named key or a chord such as `ctrl+s`."""
    control: ControlQuery | None = None
    """The control that was hit, or had the focus."""
    application: str = ""
    """Application in front."""
    text: str = ""
    """Characters typed, or the key or chord pressed, or the mouse button (`left`, `left double`)."""


CLIPBOARD = "clipboard"
"""What stands for the clipboard where the path of a file could stand."""
ARCHIVE_HEADER = "member\tsize\tchecksum\n"
"""First line of the text of an archive, above a line per file in it."""


class FileState(Record):
    """A file under the sandbox home."""

    path: str
    """Path relative to the sandbox home, with forward slashes, in composed Unicode (NFC)."""
    size: int
    """Bytes."""
    sha256: str
    """Hash of the content."""
    text: str | None = None
    """Text content up to a limit, without a byte order mark and in composed Unicode (NFC); a SQLite database
    is given as SQL text, an archive as a table of its members, a packed text unpacked, a document by its
    lines, a picture as JSON with its size and colours; None for other content that is no text in UTF-8, or in
    UTF-16 or UTF-32 with a mark, and for links, which are never followed."""
    content: str | None = None
    """What `text` was made of: `text` as it stands, `database`, `archive`, `packed`, `workbook`, `xournal`,
    `project`, `homebank`, `playlist`, `bookmarks`, `document` (of a word processor), `pdf` or `picture`;
    empty where there is none; None where that was not told."""
    truncated: bool = False
    """Whether `text` is less than the whole: cut at the limit, or without the older rows of a database."""
    part_of: str = ""
    """Path of the database whose log this is; what it holds is in the text of that one."""


class ClipboardState(Record):
    """What the clipboard holds."""

    text: str | None = None
    """Text, if any."""
    image_sha256: str | None = None
    """Hash of the image, if any."""
    file_name: str | None = None
    """Name of the file, if one was copied."""


class Evidence(Record):
    """The state of an environment after a step, together with the inputs made so far."""

    step: int
    """Steps done; 0 is the state after reset."""
    inputs: tuple[InputEvent, ...] = ()
    """All inputs since the reset, oldest first."""
    screenshot: Screenshot | None = None
    """Last screen."""
    screen: str = ""
    """What the display showed on it, as the text of a picture; empty where no application asks for it."""
    controls: tuple[Control, ...] = ()
    """Controls on it."""
    text_under_cursor: str = ""
    """Text of the control under the mouse pointer."""
    clipboard: ClipboardState = ClipboardState()
    """The clipboard."""
    selection: str = ""
    """Text selected in any window (the primary selection of a desktop); empty elsewhere."""
    files: tuple[FileState, ...] = ()
    """Files under the sandbox home, sorted by path."""
    directories: tuple[str, ...] = ()
    """Directories under the sandbox home, sorted."""
    unseen: tuple[str, ...] = ()
    """Paths about which nothing is known: what could not be read, names that look the same, and folders with
    more in them than is kept. Nothing below them is known either."""
    active_application: str = ""
    """Application in front."""
    window_title: str = ""
    """Title of the window in front."""
    url: str = ""
    """Address of the page in front, without the port."""
    blocked_requests: tuple[str, ...] = ()
    """Addresses outside the loopback interface that were refused since the reset."""
    noise: tuple[NoisePlace, ...] = ()
    """What the applications were measured to change by themselves; empty where nobody measured it."""

    def file(self, path: str) -> FileState | None:
        """The file at exactly this path; None where there is none."""
        return next((file for file in self.files if file.path == path), None)

    def files_by_path(self) -> dict[str, FileState]:
        """All files by their paths."""
        return {file.path: file for file in self.files}
