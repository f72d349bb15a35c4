"""Effects: what a performance changed (method section 3), what work may change, noise and side effects."""

from pydantic import Field

from taskloom.resources.noise import Area, EffectKind, NoisePlace
from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance

ANY = "*"
"""A segment that differs between performances: a position, or a generated id."""


class Effect(Record):
    """One difference between the state at the start and the state at the end of a performance.

    Effects nest: an added row is one effect, and each of its fields is another whose address begins with the
    row's. Undoing the row undoes its fields.
    """

    area: Area
    """Part of the state."""
    container: str = ""
    """Path of the file or directory; empty for clipboard, window and screen, as there is one of each."""
    format: str = ""
    """Format that the file was read as (`delimited`, `json_tree`, `database`, …); empty outside of files."""
    content: str | None = None
    """For a file as a whole: what its text was made of at the end; None for all else, or if unknown."""
    address: tuple[str, ...] = ()
    """Where in the container, from the outside in: `('orders', '12', 'amount')`. Empty for the container
    itself. Positions count from 0: in the state at the end for what was added or changed, at the start for
    what was removed."""
    kind: EffectKind
    """What happened."""
    before: str | None = None
    """Value at the start; None for what was added. Long values are cut and end with the hash of the whole."""
    after: str | None = None
    """Value at the end; None for what was removed. Long values are cut and end with the hash of the whole."""
    container_template: str = ""
    """`container` with the values of parameters replaced by their names in braces."""
    address_template: tuple[str, ...] = ()
    """`address` in terms of the parameters; `*` for positions and generated ids."""
    before_template: str | None = None
    """`before` in terms of the parameters."""
    after_template: str | None = None
    """`after` in terms of the parameters."""
    source: str = ""
    """Where the whole of `after` was at the start: `clipboard`, or the path of a file; else empty."""
    source_template: str = ""
    """`source` in terms of the parameters."""
    refers_template: str = ""
    """For a value that is a generated id: the parameters whose values the record with that id holds, such as
    `{group_name}`; else empty. For what was removed, the record at the start."""
    follows: bool = False
    """Whether its record refers to another one that the work changed and a parameter names: the number of
    such records is no part of the work."""
    records_of: str = ""
    """For an added record: the file, in terms of the parameters, whose records at the start were all copied
    to this one and those added beside it; else empty."""
    holds: tuple[str, ...] = ()
    """Parameters, such as `{group_name}`, whose values were at the start in the records around it, or in
    files and folders with generated names. If certain texts were searched for instead, those of them that
    were found at the start or the end, as plain texts."""

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies it in every performance, without its values."""
        return (self.area, self.container_template, self.kind, *self.address_template)

    @property
    def place(self) -> tuple[str, ...]:
        """Where it is: part of the state, file or folder, and address in it."""
        return (self.area, self.container, *self.address)

    @property
    def around(self) -> tuple[tuple[str, ...], ...]:
        """The places that enclose it, the outermost first."""
        return tuple(self.place[:depth] for depth in range(2, len(self.place)))

    @property
    def where(self) -> str:
        """Its place, for people."""
        return ": ".join(part for part in (self.container or self.area, " / ".join(self.address)) if part)

    def describe(self) -> str:
        """The effect as one line for people.

        >>> Effect(area="file", container="a.csv", address=("North", "amount"), kind="changed", before="1", after="2").describe()
        "a.csv: North / amount: '1' becomes '2'"
        """  # noqa: E501
        if self.kind == "changed":
            return f"{self.where}: {_quote(self.before)} becomes {_quote(self.after)}"
        value = self.after if self.kind == "added" else self.before
        return f"{self.where}: {self.kind}" + (f" {_quote(value)}" if value else "")


class PerformanceEffects(Record):
    """What one performance of a subtask changed; those that agree with it decide what is essential."""

    trajectory_id: str
    """The performance."""
    subtask_id: str
    """The subtask."""
    instance_id: str
    """The subtask bound to its parameters."""
    compared: int = 1
    """Agreeing performances, this one included, that decide what is essential; 1 decides nothing."""
    essential: tuple[Effect, ...] = ()
    """Changes that all compared performances make; empty if there is only one."""
    incidental: tuple[Effect, ...] = ()
    """The other changes."""
    left_out: int = 0
    """Number of further changes, beyond the maximum kept of each kind."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


_MAXIMUM_SHOWN = 80


def _quote(value: str | None) -> str:
    text = value or ""
    return repr(text if len(text) <= _MAXIMUM_SHOWN else text[:_MAXIMUM_SHOWN] + "…")


class ApplicationNoise(Record):
    """The places that an idle application changes, measured once for a version and some worlds."""

    noise_id: str
    """Opaque id: application, version, worlds and method of measurement."""
    application: str
    """The application."""
    version: str
    """Version that was measured; every version is measured separately."""
    world: str = ""
    """Worlds whose data it started with, separated by commas; empty for the first."""
    places: tuple[NoisePlace, ...] = ()
    """Places that it changes by itself."""
    recordings: int = 0
    """Number of idle recordings that were compared."""
    seconds: float = 0.0
    """Minimum length of each recording."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


class SideEffects(Record):
    """Lasting changes that no verified performance of the subtasks makes, counted from the outside in.

    A score separate from success: work can be done and something else destroyed, or nothing done and nothing
    destroyed.
    """

    total: int = Field(default=0, ge=0)
    """All of them; 0 for an attempt that changed nothing else."""
    files_added: int = Field(default=0, ge=0)
    """Files and folders that were created."""
    files_lost: int = Field(default=0, ge=0)
    """Files and folders that are gone."""
    records_added: int = Field(default=0, ge=0)
    """Lines, rows, fields or elements that were added to files that still exist."""
    records_lost: int = Field(default=0, ge=0)
    """Lines, rows, fields or elements that are gone from files that still exist."""
    values_changed: int = Field(default=0, ge=0)
    """Values that differ, and changed files whose contents cannot be read."""
    examples: tuple[str, ...] = ()
    """The first of them, in words."""

    def describe(self) -> str:
        """The counts in words.

        >>> SideEffects().describe(), SideEffects(total=3, files_lost=2, values_changed=1).describe()
        ('none', '2 files lost, 1 value changed')
        """
        parts = []
        for name in ("files_added", "files_lost", "records_added", "records_lost", "values_changed"):
            (nouns, verb), count = name.split("_"), getattr(self, name)
            if count:
                parts.append(f"{count} {nouns if count > 1 else nouns[:-1]} {verb}")
        return ", ".join(parts) or "none"


class Allowance(Record):
    """One place that right work changes: a file, a table, a record, a field.

    All of a subtask's allowances together also say what it depends on in its application.
    """

    area: Area = "file"
    """Part of the state."""
    container: str = ""
    """Path of the file or folder in terms of the parameters; `*` for generated parts."""
    address: tuple[str, ...] = ()
    """Where in it, in terms of the parameters; `*` for positions and generated keys."""
    kind: EffectKind
    """What happens there."""
    holds: tuple[str, ...] = ()
    """What the record or line that `*` stands for must hold, in terms of the parameters; empty for any."""
    inside: bool = False
    """Whether it concerns the inside of something added."""
    most: int = 0
    """Maximum number in one performance or, inside something added, in each such thing; 0 for no limit."""
    most_of: str = ""
    """The file, in terms of the parameters, whose records are added here: at most as many as it has."""
    content: str | None = None
    """For a file as a whole: what its text is made of in all performances; None if that may vary."""
    bounded: bool = False
    """For something added as a whole: whether it may contain only what other allowances name."""
    values: tuple[str, ...] | None = None
    """Inside something added: the only values allowed, if all performances have the same; else None."""
