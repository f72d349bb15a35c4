"""Worlds: consistent starting data for all applications, so that one subtask has many sensible instances.

The catalogue is written in the terms of the first world. Another world replaces every value of the first
world in parameter sets, fixtures and prepared files with its own.
"""

from collections.abc import Iterable

from pydantic import Field

from taskloom.resources.record import Record

FIRST_WORLD = ""
"""Name of the world in whose terms the catalogue is written."""


def stem_of(value: str) -> str:
    """The key under which the use of a value is stored: without folder, suffix and the mark of an export.

    >>> stem_of("Downloads/members-export.csv"), stem_of("Packing list")
    ('members', 'Packing list')
    """
    name = value.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return (stem if dot and suffix.isalnum() and " " not in suffix else name).removesuffix("-export")


class World(Record):
    """One world, drawn from the rules of its kind with a seed, or written by hand or by a model."""

    name: str = Field(pattern=r"^([a-z][a-z0-9_]*-[0-9]+)?$")
    """Kind and seed, such as `bakery-3`; empty for the first world."""
    kind: str
    """Its kind: `bakery`, `household`."""
    owner: str
    """Phrase for the owner of the data: `the bakery`."""
    title: str
    """The owner, distinguished from others of its kind: `the bakery of Ada Berg`."""
    description: str
    """One sentence about it."""
    terms: dict[str, str]
    """Its names for things, wherever they appear, by place in the rules: `Van list` for
    `notes.packing.title`."""
    labels: dict[str, str]
    """Replacements of whole parameter values only, by place."""
    unchanged: tuple[str, ...] = ()
    """Values of the first world that stay unchanged although they contain a term."""
    phrases: dict[str, str]
    """Phrases for values, files by file name: `the March sales` for `Documents/march_sales.csv`."""
    uses: dict[str, str] = Field(default_factory=dict)
    """What a thing is needed for, by its title or by its file's name without the suffix: `the tax return`
    for `march_sales`."""
    occasions: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Occasions for which things are needed together, by the same names; other things suit any occasion."""

    def phrase(self, value: str) -> str:
        """The phrase for a note, file or record of this world; empty if it has none.

        A path is looked up by its last part; a CSV file also by the name of its table.
        """
        phrase = self.phrases.get(value, "") or self.phrases.get(value.rpartition("/")[2], "")
        return phrase or (self.phrases.get(stem_of(value), "") if value.endswith(".csv") else "")

    @property
    def readers(self) -> str:
        """Who reads what is published in this world: `the club board`; empty if unknown."""
        return self.terms.get("project.about.team", "")

    def use(self, value: str) -> str:
        """What a note, file or record of this world is needed for; empty if unknown.

        A file is looked up by its name without the suffix; an export has the use of its table.
        """
        return self.uses.get(value, "") or self.uses.get(stem_of(value), "")

    def occasions_of(self, value: str) -> tuple[str, ...]:
        """The occasions of a note, file or record of this world, looked up like its use; empty if it suits
        any occasion."""
        return self.occasions.get(value, ()) or self.occasions.get(stem_of(value), ())

    def common_occasions(self, values: Iterable[str]) -> tuple[str, ...] | None:
        """The occasions that all `values` with occasions share; None if no value has any."""
        groups = [occasions for value in values if (occasions := self.occasions_of(value))]
        return tuple(item for item in groups[0] if all(item in other for other in groups)) if groups else None
