"""Effects: what a performance changed (method section 3), what work may change, what else changes."""

from pydantic import Field

from taskloom.resources.noise import Area, EffectKind, NoisePlace
from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance

ANY = "*"
"""A segment that differs between performances: a position, or an id that was generated."""


class Effect(Record):
    """One difference between the state at the start and the state at the end of a performance.

    Effects nest: a row that was added is one effect, and each of its fields another whose address begins with
    the row's. Undoing the row undoes its fields.
    """

    area: Area
    """Part of the state."""
    container: str = ""
    """Path of the file or directory; empty for clipboard, window and screen, of which there is one each."""
    format: str = ""
    """Format that the file was read as (`delimited`, `json_tree`, `database`, …); empty outside of files."""
    content: str | None = None
    """What the text of a file as a whole was made of at the end; None for all else, or not known."""
    address: tuple[str, ...] = ()
    """Where in the container, from the outside in: `('orders', '12', 'amount')`. Empty for the container
    itself. Positions count from 0, at the end for what was added or changed, at the start for what was
    removed."""
    kind: EffectKind
    """What happened."""
    before: str | None = None
    """Value at the start; None for what was added. Long values are cut and end with the hash of the whole."""
    after: str | None = None
    """Value at the end; None for what was removed. Long values are cut and end with the hash of the whole."""
    container_template: str = ""
    """`container` with the values of parameters replaced by their names in braces."""
    address_template: tuple[str, ...] = ()
    """`address` in terms of the parameters; `*` for positions and for ids that were generated."""
    before_template: str | None = None
    """`before` in terms of the parameters."""
    after_template: str | None = None
    """`after` in terms of the parameters."""
    source: str = ""
    """Where `after` was as a whole at the start: `clipboard`, or the path of a file; else empty."""
    source_template: str = ""
    """`source` in terms of the parameters."""
    refers_template: str = ""
    """Where the value is an id that the application made up: the parameters that the record of that id holds,
    `{group_name}`; else empty. For what was removed, the record at the start."""
    follows: bool = False
    """Whether it is on a record that refers to another one, which the work changed and a parameter names: how
    many of those there are is no part of the work."""
    records_of: str = ""
    """Of a record that was added: the file, in terms of the parameters, whose records at the start were all
    copied, to this one and those added beside it; else empty."""
    holds: tuple[str, ...] = ()
    """What the records around it, and files and folders under names that the application made up, held at the
    start of a parameter's value: `{group_name}`. Where certain texts were looked for instead, which of these
    they held at the start or the end, as plain texts."""

    @property
    def key(self) -> tuple[str, ...]:
        """What it is in every performance, apart from its values."""
        return (self.area, self.container_template, self.kind, *self.address_template)

    @property
    def place(self) -> tuple[str, ...]:
        """Where it is: part of the state, file or folder, and address in it."""
        return (self.area, self.container, *self.address)

    @property
    def around(self) -> tuple[tuple[str, ...], ...]:
        """The places that it lies in, the outermost first."""
        return tuple(self.place[:depth] for depth in range(2, len(self.place)))

    @property
    def where(self) -> str:
        """Its place for people."""
        return ": ".join(part for part in (self.container or self.area, " / ".join(self.address)) if part)

    def describe(self) -> str:
        """The effect as one line for people.

        >>> Effect(area="file", container="a.csv", address=("North", "amount"), kind="changed", before="1", after="2").describe()
        "a.csv: North / amount: '1' becomes '2'"
        """  # noqa: E501
        if self.kind == "changed":
            return f"{self.where}: {_shown(self.before)} becomes {_shown(self.after)}"
        value = self.after if self.kind == "added" else self.before
        return f"{self.where}: {self.kind}" + (f" {_shown(value)}" if value else "")


class PerformanceEffects(Record):
    """What one performance of a subtask changed, told apart by the performances that agree with it."""

    trajectory_id: str
    """The performance."""
    subtask_id: str
    """The subtask."""
    instance_id: str
    """The subtask bound to its parameters."""
    compared: int = 1
    """Performances, with this one, that agree and decide what is essential; 1 decides nothing."""
    essential: tuple[Effect, ...] = ()
    """Changes that all compared performances make; empty where there is only one."""
    incidental: tuple[Effect, ...] = ()
    """The other changes."""
    left_out: int = 0
    """Further changes, beyond the most that are kept of each kind."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


_LONGEST_SHOWN = 80


def _shown(value: str | None) -> str:
    text = value or ""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


class ApplicationNoise(Record):
    """The places that an application changes while nobody works with it: measured once for a version and
    some worlds."""

    noise_id: str
    """Opaque id: application, version, worlds and way of measuring."""
    application: str
    """The application."""
    version: str
    """Version that was measured; another one is measured anew."""
    world: str = ""
    """Worlds whose data it started with, separated by commas; empty for the first."""
    places: tuple[NoisePlace, ...] = ()
    """Where it changes something by itself."""
    recordings: int = 0
    """Idle recordings that were compared."""
    seconds: float = 0.0
    """How long each of them lasted at least."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class SideEffects(Record):
    """Lasting changes that no verified performance of the subtasks makes, counted from the outside in.

    A score of its own beside success: work can be done and something else destroyed, or nothing done and
    nothing destroyed.
    """

    total: int = Field(default=0, ge=0)
    """All of them; 0 for an attempt that left everything else alone."""
    files_added: int = Field(default=0, ge=0)
    """Files and folders that were made."""
    files_lost: int = Field(default=0, ge=0)
    """Files and folders that are gone."""
    records_added: int = Field(default=0, ge=0)
    """Lines, rows, fields or elements that were added to files that stay."""
    records_lost: int = Field(default=0, ge=0)
    """Lines, rows, fields or elements that are gone from files that stay."""
    values_changed: int = Field(default=0, ge=0)
    """Values that are different, and files whose inside is not known."""
    examples: tuple[str, ...] = ()
    """The first of them, in words."""

    def describe(self) -> str:
        """The counts in words.

        >>> SideEffects().describe(), SideEffects(total=3, files_lost=2, values_changed=1).describe()
        ('none', '2 files lost, 1 value changed')
        """
        found = []
        for name in ("files_added", "files_lost", "records_added", "records_lost", "values_changed"):
            (nouns, verb), count = name.split("_"), getattr(self, name)
            if count:
                found.append(f"{count} {nouns if count > 1 else nouns[:-1]} {verb}")
        return ", ".join(found) or "none"


class Allowance(Record):
    """One place that right work changes: a file, a table, a record, a field.

    The list of them also says what a subtask depends on in its application.
    """

    area: Area = "file"
    """Part of the state."""
    container: str = ""
    """Path of the file or folder in terms of the parameters; `*` for parts that applications make up."""
    address: tuple[str, ...] = ()
    """Where in it, in terms of the parameters; `*` for positions and for keys that applications make up."""
    kind: EffectKind
    """What happens there."""
    holds: tuple[str, ...] = ()
    """What the record or line behind a `*` holds that is meant, in terms of the parameters; empty for any."""
    inside: bool = False
    """Whether it is about what is inside of something added."""
    most: int = 0
    """How often at most, in one performance or, inside of something added, in that; 0 for any number."""
    most_of: str = ""
    """The file, in terms of the parameters, whose records are added here: as many as it has."""
    content: str | None = None
    """What the text of the file as a whole is made of in all performances; None where that does not count."""
    bounded: bool = False
    """Of something added as a whole: whether nothing else may be in it than what other allowances name."""
    values: tuple[str, ...] | None = None
    """Inside of something added: the only values there, where all performances have the same; else None."""
