"""Requests for tasks, and the account of what was composed."""

from typing import Literal, Self

from pydantic import Field, model_validator

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS, Cell, Dimension, Level, by_measure
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges


class Quota(Record):
    """Number of tasks wanted of certain levels."""

    levels: LevelConstraint = LevelConstraint()
    """Levels that count; the quota is spread evenly over the cells they allow."""
    count: int = Field(ge=1)
    """Number of tasks."""
    name: str = ""
    """Name of the quota in reports, such as a capability."""


class CompositionRequest(Record):
    """A request for tasks: how many, of which levels, within which limits.

    At most one of `quotas` (an explicit table, or one row per capability) and `level_quotas` may be given.
    With neither, an eighth of `count` tasks is of each level and a twentieth for each capability, as far as
    the pool reaches them, and the others are spread evenly over all cells.
    """

    count: int = Field(default=1000, ge=1)
    """Number of tasks, unless quotas are given."""
    quotas: tuple[Quota, ...] = ()
    """Tasks wanted per cell or group of cells; a task counts towards one quota."""
    level_quotas: dict[Dimension, dict[Level, int]] = Field(default_factory=dict)
    """Tasks wanted per level of each dimension; a task counts in every dimension given."""
    within: LevelConstraint = LevelConstraint()
    """Levels to which all tasks are confined."""
    ranges: MeasureRanges = MeasureRanges()
    """Ranges of values to which all tasks are confined, if levels are too coarse."""
    minimum_size: int = Field(default=2, ge=1, le=MAXIMUM_SUBTASKS)
    """Minimum subtasks per task."""
    maximum_size: int = Field(default=6, ge=1, le=MAXIMUM_SUBTASKS)
    """Maximum subtasks per task; hard depth with hard width takes at least nine."""
    maximum_components: int = Field(default=1, ge=1, le=MAXIMUM_SUBTASKS)
    """Maximum weakly connected components per task; with 1, all its subtasks are linked."""
    maximum_readers: int = Field(default=2, ge=1, le=MAXIMUM_SUBTASKS)
    """Maximum subtasks of a task that read the same subtask's product."""
    maximum_ends: int = Field(default=2, ge=1, le=MAXIMUM_SUBTASKS)
    """Maximum subtasks of a task whose results no other subtask reads; the goal must name these. Results that
    go to one page or folder count once."""
    near_duplicate_share: float = Field(default=0.75, gt=0, le=1)
    """Two tasks are near-duplicates, and one is left out, if they share at least this fraction of the larger
    one's instances. With 1, only identical tasks are."""
    subtask_share: float = Field(default=0.05, gt=0, le=1)
    """Largest share of the tasks that may contain the same instance; five times that for the same subtask
    with any values. Twenty tasks are always allowed, and in small pools three times an even share."""
    pattern_share: float = Field(default=0.02, gt=0, le=1)
    """Largest share of the tasks that may consist of the same subtasks with other values; five are always
    allowed."""
    links: int = Field(default=1500, ge=0)
    """Maximum instances that a build adds, over all worlds, in which a subtask reads another's product that
    no catalogue entry names; 0 for none. `taskloom plan` does not count them."""
    twins: bool = False
    """Whether to add a chain twin for every task that is not a chain (Figure 7)."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.minimum_size > self.maximum_size:
            raise ValueError(
                f"minimum_size {self.minimum_size} is above maximum_size {self.maximum_size}; lower the"
                " minimum or raise the maximum"
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
        """Total number of tasks wanted."""
        if self.quotas:
            return sum(quota.count for quota in self.quotas)
        for levels in self.level_quotas.values():
            return sum(levels.values())
        return self.count

    def narrowed(self) -> Self:
        """The request with its sizes narrowed to its range of subtasks."""
        fewest, most = self.ranges.of(by_measure("nodes").name)
        sizes = {
            "minimum_size": max(self.minimum_size, fewest),
            "maximum_size": min(self.maximum_size, most),
        }
        return self.model_copy(update=sizes)

    def unbounded(self) -> Self:
        """The request without limits on size and shape, to find the nearest cells if they allow none."""
        most = MAXIMUM_SUBTASKS
        bounds = {"minimum_size": 1, "maximum_size": most, "maximum_readers": most, "maximum_ends": most}
        return self.model_copy(update={**bounds, "ranges": MeasureRanges()})


ShortfallKind = Literal["impossible_for_any_graph", "outside_limits", "impossible_for_pool", "used_up"]
"""Why tasks are missing: no graph has these levels; the limits of the request exclude them; this pool has no
such task; all such tasks are used."""


class Shortfall(Record):
    """Wanted tasks that were not made, and why."""

    wanted: str
    """The quota, in words."""
    missing: int
    """Number of missing tasks."""
    kind: ShortfallKind
    """Kind of reason."""
    reason: str
    """The full explanation."""
    bottleneck: str = ""
    """Resource category or application category that is missing or scarce."""
    nearest: Cell | None = None
    """Nearest cell that this pool reaches."""


class NotComposed(Record):
    """An intent that no task serves."""

    intent_id: str
    """The intent."""
    goal: str
    """Text of the intent."""
    reason: str
    """Why no task serves it, and what would help."""


class MissingLink(Record):
    """A resource category that an application produces but nobody reads, or reads but nobody produces."""

    application: str
    """The application."""
    category: str
    """The resource category."""
    advice: str
    """Which subtasks to propose, addressed to an explorer."""


class CompositionAccount(Record):
    """The outcome of a request."""

    wanted: int
    """Tasks wanted."""
    composed: int
    """Tasks made."""
    per_cell: dict[str, int]
    """Tasks per cell, named by its levels in the order of Table 2."""
    intents: int
    """Number of intents served."""
    without_intent: int = 0
    """Tasks built around a path instead of an intent."""
    twins: int = 0
    """Chain twins made in addition."""
    without_twin: int = 0
    """Tasks that are not chains and for which the pool has no chain twin."""
    examined: int
    """Closed sets of subtasks examined."""
    without_successful_order: int = 0
    """Sets rejected because in every order some resource is lost before it is read."""
    example_clash: str = ""
    """The clash of one such set, with its subtasks named."""
    near_duplicates: int = 0
    """Sets left out because they are near-duplicates of an earlier task."""
    over_share: int = 0
    """Sets left out because a subtask of theirs, or their combination, has reached its share of the tasks."""
    uncountable: int = 0
    """Sets rejected because they have too many different orders to be counted exactly."""
    shortfalls: tuple[Shortfall, ...] = ()
    """Missing tasks, with reasons."""
    not_composed: tuple[NotComposed, ...] = ()
    """Intents that no task serves, with reasons."""
    missing_links: tuple[MissingLink, ...] = ()
    """If tasks or intents are missing: which subtasks to propose so that more can be linked."""
