"""Levels and capabilities that few tasks have or none, and what each lacks."""

from collections import Counter
from collections.abc import Iterable, Mapping

from taskloom.resources.capability_presets import Capability
from taskloom.resources.dimensions import (
    DIMENSIONS,
    LEVELS,
    TABLE,
    Cell,
    Dimension,
    DimensionDefinition,
    Level,
)
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.complexity import capabilities_met, cell_from_measures

FEW = 0.05
"""Share of the tasks below which a level or a capability is thin."""


class Gap(Record):
    """A level or a capability that few tasks have, or none."""

    name: str
    """What it is: `hard in knowledge`, `Parallel Planning`."""
    tasks: int
    """Tasks that have it."""
    share: float
    """Their share of all tasks."""
    missing: str
    """What it lacks."""

    def __str__(self) -> str:
        """How many tasks have it, and what it lacks."""
        found = f"{self.tasks} tasks ({self.share:.1%})" if self.tasks else "none"
        return f"{found}; {self.missing}"


def gaps_of(tasks: Mapping[tuple[int, ...], int], capabilities: Iterable[Capability]) -> tuple[Gap, ...]:
    """Every level of every dimension and every capability that is empty or thin, levels first.

    Args:
        tasks: How many tasks have each combination of values, in the order of the dimensions.
        capabilities: The capabilities that tasks should test.

    >>> [str(gap) for gap in gaps_of({(3, 4, 3, 3, 2): 20}, []) if gap.name == "hard in hierarchy"]
    ['none; it takes depth 5 and more, the most is 3. For more: subtasks that work on with what others ...']
    """
    total = sum(tasks.values())
    if not total:
        return ()
    cells = Counter[Cell]()
    for values, number in tasks.items():
        cells[cell_from_measures(*values)] += number
    found = []
    for place, row in enumerate(TABLE):
        seen = [values[place] for values in tasks]
        for level in LEVELS:
            count = _having(cells, {row.name: level})
            if count < FEW * total:
                name = f"{level} in {row.name}"
                missing = _missing_in(row, level, count, (min(seen), max(seen)))
                found.append(Gap(name=name, tasks=count, share=count / total, missing=missing))
    for capability in capabilities:
        count = sum(number for cell, number in cells.items() if capabilities_met(cell, [capability]))
        if count < FEW * total:
            missing = _lacking(cells, capability.levels())
            found.append(Gap(name=capability.title, tasks=count, share=count / total, missing=missing))
    return tuple(found)


def _missing_in(row: DimensionDefinition, level: Level, count: int, values: tuple[int, int]) -> str:
    low, high = row.values(level)
    if level == "easy":
        needs, nearest = f"at most {high}", values[0]
    else:
        needs, nearest = f"{low} and more" if level == "hard" else f"{low} to {high}", values[1]
    said = f"it takes {needs} {row.plural}" if row.singular else f"it takes {row.plural} {needs}"
    if not count and not low <= nearest <= high:
        said += f", the {'most' if level != 'easy' else 'fewest'} is {nearest}"
    if level == "easy":
        return said
    return f"{said}. For more: {row.more_by}"


def _lacking(cells: Mapping[Cell, int], levels: Mapping[Dimension, Level]) -> str:
    counts = {
        f"{level} in {dimension}": _having(cells, {dimension: level}) for dimension, level in levels.items()
    }
    absent = [name for name, count in counts.items() if not count]
    if absent:
        return f"it takes tasks that are {' and '.join(counts)}, and none is {' or '.join(absent)}"
    found = " and ".join(f"{count} are {name}" for name, count in counts.items())
    return f"of the tasks, {found}" + (", few of them both" if len(counts) > 1 else "")


def _having(cells: Mapping[Cell, int], levels: Mapping[Dimension, Level]) -> int:
    return sum(
        number
        for cell, number in cells.items()
        if all(cell[DIMENSIONS.index(dimension)] == level for dimension, level in levels.items())
    )
