"""What a performance changed, as shown to the evaluation writer; the shape of what a subtask may change, for
a writer that must not see the performances; and subtasks and screens as shown to the explorer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from taskloom.resources.applications import SubtaskTemplate, SubtaskWording
from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.interaction import Control


class SubtaskToDeclare(SubtaskWording):
    """A proposed subtask without the declarations of others, so that the answer is independent of them."""

    fresh: tuple[str, ...] = ()
    """Parameters that may take any new value."""

    @classmethod
    def of(cls, template: SubtaskTemplate) -> "SubtaskToDeclare":
        """`template` without its inputs and outputs."""
        return cls.model_validate(template.model_dump(exclude={"inputs", "outputs"}))


class ResourceInView(Record):
    """A resource as shown to a model."""

    category: str
    """Resource category."""
    value: str = ""
    """Path, name or document; empty for a bare slot."""
    kind: str = ""
    """Kind of the category, if the reader needs it."""


class KnownSubtask(Record):
    """A subtask of an earlier exploration."""

    name: str
    """Name within the application."""
    instruction_template: str
    """Instruction with placeholders."""
    makes: tuple[ResourceInView, ...] = ()
    """Resources that it makes with the values it was verified with."""


class RejectedSubtask(KnownSubtask):
    """A proposal of an earlier exploration that was rejected."""

    reason: str
    """Why it was rejected."""


class ScreenInView(Record):
    """A screen beyond the first."""

    path: tuple[str, ...]
    """Controls to click in order, starting from the first page."""
    window_title: str = ""
    """Title of the window."""
    controls: tuple[Control, ...] = ()
    """Controls that no earlier screen shows."""


class TouchedRecord(Record):
    """A record (row, object, element, note) that was added, removed or changed, with all its fields."""

    file_path: str
    """Its file."""
    within: str = ""
    """Where in the file: the database's table; empty for anywhere."""
    kind: Literal["added", "removed", "changed"]
    """What happened to it."""
    fields: dict[str, str]
    """Its fields and their values; for a removed one, those at the start."""
    changed_fields: tuple[str, ...] = ()
    """For a changed one: the fields whose value differs from that at the start."""
    references: dict[str, tuple[str, str, str]] = Field(default_factory=dict)
    """Fields that hold the id of another record of the file: the name of the id's field, and a field of that
    record with its value."""
    grown: dict[str, tuple[str, str, str]] = Field(default_factory=dict)
    """For an added one: fields that begin with a value that another record had at the start: a field and
    value that identify that record, and the text appended."""


@dataclass(frozen=True, slots=True)
class CheckAsked:
    """A call of a check."""

    check: str
    """Its name."""
    arguments: Mapping[str, object]
    """Its arguments; a tuple of calls stands for their results, concatenated."""


class Origin(Record):
    """Where the present content of a target was at the start."""

    kind: Literal[
        "whole",
        "part",
        "records",
        "record",
        "field",
        "belonging",
        "linked",
        "drawing",
        "shown",
        "opened",
        "count",
        "picture",
        "packed",
        "unpacked",
        "joined",
        "captured",
        "said",
    ]
    """How the target relates to the source, in this order: it is a copy of the whole source, or contains it
    among other text; contains all of its records, or a certain one; is one of its fields; contains a record
    with everything that belongs to it, or a field of what belongs to it; shows the shapes and texts of the
    source, or texts that the screen showed; is the screen, which shows the texts of the source; is the number
    of its records; is a picture made from it by the change in `source_at`; is an archive of the folder; is
    the archive's content; is its text followed by that of the file `source_at`; is a picture of the present
    screen; contains all that the source says, in another layout."""
    source: str
    """Path of a file, or `clipboard`, or `screen`, in the state at the start."""
    source_at: str = ""
    """Table of the source's records, address of its field, a change, or the file that follows."""
    target: str
    """Path of a file, or `clipboard`, or `screen`, in its present state."""
    target_at: str = ""
    """Table of the target's records, or address of the field; empty for the whole."""
    number: int = 0
    """Number of the source's record, counted from 1."""
    belonging_to: dict[str, str] = Field(default_factory=dict)
    """A field that identifies the source's record, for `belonging` and `linked`."""

    @property
    def asked(self) -> CheckAsked:
        """The call of a check that verifies it."""
        place = {"source": self.source, "target": self.target}
        match self.kind:
            case "whole" | "part":
                return CheckAsked("check_copied", {**place, "whole": self.kind == "whole"})
            case "records":
                within = {"source_within": self.source_at, "target_within": self.target_at}
                return CheckAsked("check_records_copied", {**place, **within})
            case "record":
                which = {"number": self.number, "source_within": self.source_at}
                return CheckAsked("check_one_record_copied", {**place, **which})
            case "belonging":
                return CheckAsked("check_records_copied", {**place, "belonging_to": self.belonging_to})
            case "picture":
                return CheckAsked("check_picture", {**place, "change": self.source_at})
            case "packed" | "unpacked":
                return CheckAsked(f"check_{self.kind}", place)
            case "said":
                return CheckAsked("check_says_all", place)
            case "drawing":
                return CheckAsked("check_drawing_copied", place)
            case "shown":
                return CheckAsked("check_drawing_shown_before", {"file_path": self.target})
            case "opened":
                return CheckAsked("check_drawing_shown", {"file_path": self.source})
            case "captured":
                return CheckAsked("check_screen_captured", {"file_path": self.target})
        if self.target == "clipboard":
            return CheckAsked("check_clipboard_text", {"text": self._getter_calls})
        if self.kind == "field":
            at = {"file_path": self.target, "field": self.target_at}
            return CheckAsked("check_field", {**at, "value": self._getter_calls})
        return CheckAsked("check_file_text", {"file_path": self.target, "text": self._getter_calls})

    @property
    def _getter_calls(self) -> tuple[CheckAsked, ...]:
        """The calls that return the target's content."""
        files = (self.source, self.source_at) if self.kind == "joined" else (self.source,)
        checks = {"joined": "get_file_text", "count": "get_record_count", "linked": "get_linked_field"}
        at = {"field": self.source_at} if self.kind in ("field", "linked") else {}
        which = {"fields": self.belonging_to} if self.kind == "linked" else {}
        return tuple(
            CheckAsked(
                checks.get(self.kind, "get_field"), {"file_path": path, **at, **which, "at_start": True}
            )
            for path in files
        )


class ExtendedText(Record):
    """A text to which something was appended since the start, in its own file or a new one."""

    file_path: str
    """The file."""
    field: str = ""
    """Address of the text in it; empty for the file as a whole."""
    text: str
    """The appended text."""
    source: str = ""
    """For a new file: the file that held at the start what it begins with."""


class ShownEffects(Record):
    """What a performance changed, for the offline writer."""

    essential: tuple[Effect, ...] = ()
    """Lasting changes, and those of the window, that every performance makes."""
    appeared: tuple[str, ...] = ()
    """Texts that the screen shows at the end and not at the start."""
    labels: tuple[str, ...] = ()
    """Those of them that are texts of controls, not only what was typed into input controls."""
    shown_times: dict[str, int] = Field(default_factory=dict)
    """How often each of these labels is visible."""
    canvases: tuple[str, ...] = ()
    """Contents of canvases that are new since the start, each with all its texts."""
    vanished: tuple[str, ...] = ()
    """Texts that the screen shows at the start and not at the end."""
    contents: dict[str, str] = Field(default_factory=dict)
    """Input controls whose content differs from that at the start, by name, with the content."""
    switches: dict[str, bool] = Field(default_factory=dict)
    """Check boxes and switches that changed, by name, with their state."""
    records: tuple[TouchedRecord, ...] = ()
    """Records that the essential changes concern."""
    origins: tuple[Origin, ...] = ()
    """Where new content was at the start."""
    extended: tuple[ExtendedText, ...] = ()
    """Texts to which something was appended."""
    rows: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Rows of tables and lists on the screen that changed since the start, with what is new in them."""
    shown_parts: tuple[tuple[str, str], ...] = ()
    """Parts of files, such as tables, all of whose records became visible since the start."""
    clipboard_before: str = ""
    """Text in the clipboard at the start."""


class ChangeShape(Record):
    """One kind of change that right work makes; without its value if that depends on parameters."""

    container: str
    """Path of the file or directory in terms of the parameters, or `clipboard`, `window`, `screen`."""
    format: str = ""
    """Format that the file is read as."""
    address: tuple[str, ...] = ()
    """Where in it, in terms of the parameters; `*` for positions and generated ids."""
    kind: str
    """What happens there: added, removed or changed."""
    value_type: str = ""
    """Type of the value at the end: `text`, `number`, `date`, `yes or no`, `group`; empty for removals."""
    always: str = ""
    """Value after every performance, if it is the same and contains no parameter; otherwise empty."""
    samples: tuple[str, ...] = ()
    """Values of other records at the same place at the start."""


class StartingFile(Record):
    """A file of the initial state."""

    path: str
    """Path relative to the home."""
    format: str = ""
    """Format that it is read as; empty if it is not text."""
    fields: tuple[str, ...] = ()
    """Names of its tables, columns or keys: those of the records that changed, then the first ones."""


class TaskShape(Record):
    """The initial state of a subtask, and what may change."""

    files: tuple[StartingFile, ...] = ()
    """Files at the start that the subtask may concern."""
    clipboard: str = ""
    """Text in the clipboard at the start; cut if it is long."""
    changes: tuple[ChangeShape, ...] = ()
    """What right work changes; the same for all performances."""
