"""What a performance changed, as the evaluation writer is shown it; the shape of what a subtask may change,
for a writer that must not see what the performances did; and what the explorer is shown of subtasks and
screens."""

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
    """Parameters free to take any new value."""

    @classmethod
    def of(cls, template: SubtaskTemplate) -> "SubtaskToDeclare":
        """`template` without what it declares to read and write."""
        return cls.model_validate(template.model_dump(exclude={"inputs", "outputs"}))


class ResourceInView(Record):
    """A resource as a model sees it."""

    category: str
    """Resource category."""
    value: str = ""
    """Path, name or document; empty for a bare slot."""
    kind: str = ""
    """Kind of the category, where the reader needs it."""


class KnownSubtask(Record):
    """A subtask that is verified already."""

    name: str
    """Name within the application."""
    instruction_template: str
    """Instruction with placeholders."""
    makes: tuple[ResourceInView, ...] = ()
    """What it makes with the values that it was verified with."""


class RejectedSubtask(KnownSubtask):
    """A proposal of an earlier exploration that was rejected."""

    reason: str
    """Why."""


class ScreenInView(Record):
    """A screen beyond the first."""

    path: tuple[str, ...]
    """Controls to click one after the other, from the first page on."""
    window_title: str = ""
    """Title of the window."""
    controls: tuple[Control, ...] = ()
    """Controls that no earlier screen shows."""


class TouchedRecord(Record):
    """A record (row, object, element, note) that was added, removed or changed, as a whole."""

    file_path: str
    """The file it is in."""
    within: str = ""
    """Where in the file: the database's table; empty for anywhere."""
    kind: Literal["added", "removed", "changed"]
    """What became of it."""
    fields: dict[str, str]
    """Its fields and their values; of a removed one, those at the start."""
    changed_fields: tuple[str, ...] = ()
    """Of a changed one: the fields that have another value than at the start."""
    references: dict[str, tuple[str, str, str]] = Field(default_factory=dict)
    """Fields that hold the id of another record of the file: name of that id's field, and a field of that
    record with its value."""
    grown: dict[str, tuple[str, str, str]] = Field(default_factory=dict)
    """Of an added one: fields that hold what a record held at the start, known by a field and its value, and
    what stands behind it."""


@dataclass(frozen=True, slots=True)
class CheckAsked:
    """A call of a check."""

    check: str
    """Its name."""
    arguments: Mapping[str, object]
    """Its arguments; a tuple of calls stands for what they get, one behind the other."""


class Origin(Record):
    """Where something that is there now was at the start."""

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
    """The target is a copy of the source as a whole, holds it among other text, holds all its records or a
    certain one, or is one field of it; holds a record and all that belongs to it, or a field of what belongs
    to it; shows the shapes and texts of the source, or texts that the screen showed; is the screen, which
    shows the texts of the source; is the number of its records; is a picture made from it by the change that
    `source_at` names; is an archive of the folder; is what was in the archive; is its text with that of the
    file `source_at` behind it; is a picture of the screen as it is now; says all that the source says, laid
    out in another way."""
    source: str
    """Path of a file, or `clipboard`, or `screen`, as it was at the start."""
    source_at: str = ""
    """Table of the source's records, address of its field, a change, or what follows."""
    target: str
    """Path of a file, or `clipboard`, or `screen`, as it is now."""
    target_at: str = ""
    """Table of the target's records, or address of the field; empty for the whole."""
    number: int = 0
    """Which record of the source it is, counted from 1."""
    belonging_to: dict[str, str] = Field(default_factory=dict)
    """A field of the source's record that `belonging` and `linked` speak of."""

    @property
    def asked(self) -> CheckAsked:
        """The call of a check that says so."""
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
            return CheckAsked("check_clipboard_text", {"text": self._held})
        if self.kind == "field":
            at = {"file_path": self.target, "field": self.target_at}
            return CheckAsked("check_field", {**at, "value": self._held})
        return CheckAsked("check_file_text", {"file_path": self.target, "text": self._held})

    @property
    def _held(self) -> tuple[CheckAsked, ...]:
        """The calls that get what the target holds."""
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
    """A text that is what it, or another file, was at the start, with something behind it."""

    file_path: str
    """The file."""
    field: str = ""
    """Address of the text in it; empty for the file as a whole."""
    text: str
    """What stands behind it now."""
    source: str = ""
    """Of a new file: the file that held at the start what it begins with."""


class ShownEffects(Record):
    """What a performance changed, for a writer that plays by rules."""

    essential: tuple[Effect, ...] = ()
    """Lasting changes, and those of the window, that every performance makes."""
    appeared: tuple[str, ...] = ()
    """Texts that the screen shows at the end and did not show at the start."""
    labels: tuple[str, ...] = ()
    """Those of them that controls show as their texts, and not only input controls as what was typed into
    them."""
    shown_times: dict[str, int] = Field(default_factory=dict)
    """How often each of them is to be seen, of those that are texts of controls."""
    canvases: tuple[str, ...] = ()
    """What canvases say at the end and did not say at the start, each with all its texts."""
    vanished: tuple[str, ...] = ()
    """Texts that the screen showed at the start and does not show at the end."""
    contents: dict[str, str] = Field(default_factory=dict)
    """Input controls that hold something else than at the start, by name, with what they hold."""
    switches: dict[str, bool] = Field(default_factory=dict)
    """Check boxes and switches that changed, by name, with their state."""
    records: tuple[TouchedRecord, ...] = ()
    """Records that the essential changes concern."""
    origins: tuple[Origin, ...] = ()
    """Where new content was at the start."""
    extended: tuple[ExtendedText, ...] = ()
    """Texts that grew at their end."""
    rows: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Rows of tables and lists on the screen that show something else than at the start, with what is new in
    them."""
    shown_parts: tuple[tuple[str, str], ...] = ()
    """Parts of files, such as tables, all of whose records the screen shows at the end and did not show at
    the start."""
    clipboard_before: str = ""
    """Text in the clipboard at the start."""


class ChangeShape(Record):
    """One kind of change that right work makes, without its value where that depends on parameters."""

    container: str
    """Path of the file or directory in terms of the parameters, or `clipboard`, `window`, `screen`."""
    format: str = ""
    """Format that the file is read as."""
    address: tuple[str, ...] = ()
    """Where in it, in terms of the parameters; `*` for positions and generated ids."""
    kind: str
    """What happens there: added, removed or changed."""
    value_type: str = ""
    """Type of the value that is there at the end: `text`, `number`, `date`, `yes or no`, `group`; empty for
    what is removed."""
    always: str = ""
    """Value that is there after every performance and that no parameter is in; empty for none."""
    samples: tuple[str, ...] = ()
    """Values that other records have at the same place at the start."""


class StartingFile(Record):
    """A file at the start."""

    path: str
    """Path relative to the home."""
    format: str = ""
    """Format that it is read as; empty where it holds no text."""
    fields: tuple[str, ...] = ()
    """Names of its tables, columns or keys: those of the records that changed, then the first ones."""


class TaskShape(Record):
    """What the subtask is about: where it starts from, and what may change."""

    files: tuple[StartingFile, ...] = ()
    """Files at the start that the subtask may concern."""
    clipboard: str = ""
    """Text in the clipboard at the start, cut where it is long."""
    changes: tuple[ChangeShape, ...] = ()
    """What right work changes; the same for all performances."""
