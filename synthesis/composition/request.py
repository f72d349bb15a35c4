"""What composition is asked for, and the account it gives."""

from typing import Literal, Self

from pydantic import Field, model_validator

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS, Cell, Dimension, Level, by_measure
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges


class Quota(Record):
    """How many tasks of some levels are wanted."""

    levels: LevelConstraint = LevelConstraint()
    """Levels that count; the quota is spread evenly over the cells that they allow."""
    count: int = Field(ge=1)
    """Number of tasks."""
    name: str = ""
    """What to call the quota in the account, such as a capability."""


class CompositionRequest(Record):
    """A request for tasks: how many, of which levels, within which limits.

    Exactly one of `quotas` (an explicit table, or one row per capability) and `level_quotas` may be given;
    with neither, a tenth of `count` tasks is of each level and a twenty-fifth for each capability, as far as
    they can be reached, and the others are spread evenly over all cells.
    """

    count: int = Field(default=1000, ge=1)
    """Number of tasks, where no quota says otherwise."""
    quotas: tuple[Quota, ...] = ()
    """Tasks wanted per cell or group of cells; a task counts towards one quota."""
    level_quotas: dict[Dimension, dict[Level, int]] = Field(default_factory=dict)
    """Tasks wanted per level of each dimension; a task counts in every dimension named."""
    within: LevelConstraint = LevelConstraint()
    """Levels to which all tasks are confined."""
    ranges: MeasureRanges = MeasureRanges()
    """Ranges of values to which all tasks are confined, where levels are too coarse."""
    minimum_size: int = Field(default=2, ge=1, le=MAXIMUM_SUBTASKS)
    """Fewest subtasks of a task."""
    maximum_size: int = Field(default=6, ge=1, le=MAXIMUM_SUBTASKS)
    """Most subtasks of a task; depth and width are both hard from nine subtasks."""
    maximum_components: int = Field(default=1, ge=1, le=MAXIMUM_SUBTASKS)
    """Most weakly connected components; with one, everything in a task serves one end."""
    maximum_readers: int = Field(default=2, ge=1, le=MAXIMUM_SUBTASKS)
    """Most subtasks of a task that read what one of them makes."""
    maximum_ends: int = Field(default=2, ge=1, le=MAXIMUM_SUBTASKS)
    """Most subtasks of a task whose results no other one reads: what its goal must name. Things that go to
    one page or folder count once."""
    near_duplicate_share: float = Field(default=0.75, gt=0, le=1)
    """Share of bound subtasks in common, of the larger task, from which two tasks are near-duplicates; one of
    them is left out. With 1 no others than equal tasks are."""
    subtask_share: float = Field(default=0.05, gt=0, le=1)
    """Largest share of the tasks that one bound subtask may be in; one subtask with whatever values may be in
    five times as many. Twenty tasks are always allowed, and in small pools three times what each would have
    if all were in equally many."""
    pattern_share: float = Field(default=0.02, gt=0, le=1)
    """Largest share of the tasks that are made of the same subtasks with other values; five tasks are always
    allowed."""
    links: int = Field(default=1500, ge=0)
    """Most instances, in all worlds together, that take what another subtask makes although no catalogue
    entry names it; 0 for none. A build makes them, so it may supply more than `taskloom plan` counts."""
    twins: bool = False
    """Whether to add a chain twin to every task that is not a chain (Figure 7)."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.minimum_size > self.maximum_size:
            raise ValueError(
                f"minimum_size {self.minimum_size} is above maximum_size {self.maximum_size}; lower one or"
                " raise the other"
            )
        if self.quotas and self.level_quotas:
            raise ValueError("give quotas or level_quotas, not both")
        sums = {dimension: sum(levels.values()) for dimension, levels in self.level_quotas.items()}
        negative = [
            f"{dimension} {name} {count}"
            for dimension, levels in self.level_quotas.items()
            for name, count in levels.items()
            if count < 0
        ]
        if negative:
            raise ValueError(f"level_quotas ask for fewer than 0 tasks: {', '.join(negative)}")
        if 0 in sums.values():
            raise ValueError(f"level_quotas ask for no task at all: {sums}")
        if len(set(sums.values())) > 1:
            raise ValueError(f"level_quotas ask for different totals per dimension: {sums}")
        return self

    @property
    def wanted(self) -> int:
        """Number of tasks wanted in all."""
        if self.quotas:
            return sum(quota.count for quota in self.quotas)
        for levels in self.level_quotas.values():
            return sum(levels.values())
        return self.count

    def narrowed(self) -> Self:
        """The request with the sizes that its range of subtasks leaves."""
        fewest, most = self.ranges.of(by_measure("nodes").name)
        sizes = {
            "minimum_size": max(self.minimum_size, fewest),
            "maximum_size": min(self.maximum_size, most),
        }
        return self.model_copy(update=sizes)

    def unbounded(self) -> Self:
        """The request with tasks of any size and shape, to say what is near where its limits leave none."""
        most = MAXIMUM_SUBTASKS
        bounds = {"minimum_size": 1, "maximum_size": most, "maximum_readers": most, "maximum_ends": most}
        return self.model_copy(update={**bounds, "ranges": MeasureRanges()})


ShortfallKind = Literal["impossible_for_any_graph", "outside_limits", "impossible_for_pool", "used_up"]
"""Why tasks are missing: no graph has these levels; the limits of the request exclude them; this pool reaches
none; all are known."""


class Shortfall(Record):
    """Tasks that were wanted and not made, with the reason."""

    wanted: str
    """The quota, in words."""
    missing: int
    """Number of tasks that are missing."""
    kind: ShortfallKind
    """Why."""
    reason: str
    """The whole explanation."""
    bottleneck: str = ""
    """Resource category or application category that is missing or scarce."""
    nearest: Cell | None = None
    """Nearest cell that this pool reaches."""


class NotComposed(Record):
    """An intent that no task serves."""

    intent_id: str
    """The intent."""
    goal: str
    """What it says."""
    reason: str
    """Why, and what would help."""


class MissingLink(Record):
    """A resource category of which an application has makers without readers, or readers without makers."""

    application: str
    """The application."""
    category: str
    """The resource category."""
    advice: str
    """What subtasks to propose, in words for an explorer."""


class CompositionAccount(Record):
    """What came of a request."""

    wanted: int
    """Tasks wanted."""
    composed: int
    """Tasks made."""
    per_cell: dict[str, int]
    """Tasks per cell, named by its levels in the order of Table 2."""
    intents: int
    """Different intents served."""
    without_intent: int = 0
    """Tasks built around a path instead of an intent."""
    twins: int = 0
    """Chain twins made beside them."""
    without_twin: int = 0
    """Tasks that are no chains and for which the pool has no chain twin."""
    examined: int
    """Closed sets of subtasks looked at."""
    without_successful_order: int = 0
    """Sets rejected because no order of theirs keeps all resources until they are read."""
    example_clash: str = ""
    """One of those, with the clashing subtasks named."""
    near_duplicates: int = 0
    """Sets left out because they are too much like a task made before."""
    over_share: int = 0
    """Sets left out because a bound subtask of theirs is in its share of the tasks already."""
    uncountable: int = 0
    """Sets rejected because they have too many different orders to be counted exactly."""
    shortfalls: tuple[Shortfall, ...] = ()
    """What is missing, with reasons."""
    not_composed: tuple[NotComposed, ...] = ()
    """Intents that no task serves, with reasons."""
    missing_links: tuple[MissingLink, ...] = ()
    """Where tasks or intents are missing: what subtasks to propose so that more link up."""
