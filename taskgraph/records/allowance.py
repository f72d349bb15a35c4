"""What a subtask's work may change: the places that its verified performances change, in terms of its
parameters."""

from __future__ import annotations

from taskloom.resources.noise import Area, EffectKind
from taskloom.resources.record import Record


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
    """What the record or line behind a `*` holds that is meant, in terms of the parameters; any where it is
    empty."""
    inside: bool = False
    """Whether it is about what is inside of something added."""
    most: int = 0
    """How often at most, in one performance or, inside of something added, in that; 0 for any number."""
    most_of: str = ""
    """The file, in terms of the parameters, whose records are added here: as many as it has, instead of
    `most`."""
    content: str | None = None
    """What the text of the file as a whole is made of in all performances; None where that does not count."""
    bounded: bool = False
    """Of something added as a whole: whether nothing else may be in it than what other allowances name."""
    values: tuple[str, ...] | None = None
    """Inside of something added: the only values there, where all performances have the same; else None."""
