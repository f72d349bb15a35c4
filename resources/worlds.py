"""Worlds: consistent starting data over all applications, so that one subtask has many instances that make
sense.

The catalogue is written in the words of the first world. Another world says the same things with its own:
wherever a value of the first world stands in a parameter set, a fixture or a prepared file, its own value
takes that place.
"""

from collections.abc import Iterable

from pydantic import Field

from taskloom.resources.record import Record

FIRST_WORLD = ""
"""Name of the world that the catalogue is written in."""


def stem_of(value: str) -> str:
    """A value as what it is wanted for is looked up: without folder, ending, and the mark of an export.

    >>> stem_of("Downloads/members-export.csv"), stem_of("Packing list")
    ('members', 'Packing list')
    """
    name = value.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return (stem if dot and ending.isalnum() and " " not in ending else name).removesuffix("-export")


class World(Record):
    """One world, drawn from the rules of its kind with a seed, or written out by hand or by a model."""

    name: str = Field(pattern=r"^([a-z][a-z0-9_]*-[0-9]+)?$")
    """Kind and seed, such as `bakery-3`; empty for the first world."""
    kind: str
    """What it is: `bakery`, `household`."""
    owner: str
    """How a sentence names whose data these are: `the bakery`."""
    title: str
    """The owner with what tells it from others of its kind: `the bakery of Ada Berg`."""
    description: str
    """One sentence about it."""
    terms: dict[str, str]
    """What it calls things wherever they appear, by their place in the rules: `notes.packing.title` to `Van
    list`."""
    labels: dict[str, str]
    """What takes the place of whole parameter values only, by place."""
    unchanged: tuple[str, ...] = ()
    """Values of the first world that stay as they are although they hold a term."""
    phrases: dict[str, str]
    """How a sentence names a value: `Documents/march_sales.csv` by its file name, to `the March sales`."""
    uses: dict[str, str] = Field(default_factory=dict)
    """What a thing is wanted for, by its title or by its file's name without the ending: `march_sales` to
    `the tax return`."""
    occasions: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Occasions for which things are wanted together, by the same names; other things go with everything."""

    def phrase(self, value: str) -> str:
        """How a sentence names a note, file or record of this world; empty where it has no name of its own.

        A path is looked up by its last part; a CSV file by the name of the table that it holds.
        """
        found = self.phrases.get(value, "") or self.phrases.get(value.rpartition("/")[2], "")
        return found or (self.phrases.get(stem_of(value), "") if value.endswith(".csv") else "")

    @property
    def readers(self) -> str:
        """Who reads what is published in this world: `the club board`; empty where nothing is said."""
        return self.terms.get("project.about.team", "")

    def use(self, value: str) -> str:
        """What a note, file or record of this world is wanted for; empty where nothing is said.

        A file is looked up by its name without its ending; an export is wanted for what its table is wanted
        for.
        """
        return self.uses.get(value, "") or self.uses.get(stem_of(value), "")

    def occasions_of(self, value: str) -> tuple[str, ...]:
        """The occasions for which a note, file or record of this world is wanted with others, looked up as
        its use is; empty where it goes with everything."""
        return self.occasions.get(value, ()) or self.occasions.get(stem_of(value), ())

    def common_occasions(self, values: Iterable[str]) -> tuple[str, ...] | None:
        """The occasions for which all `values` are wanted, as far as they are for any; None where all go with
        everything."""
        found = [occasions for value in values if (occasions := self.occasions_of(value))]
        return tuple(item for item in found[0] if all(item in other for other in found)) if found else None
