"""Parses composition requests and tells whether the pool can supply them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from taskloom.flows.errors import CommandError
from taskloom.flows.settings import Settings, describe_problems
from taskloom.resources.capability_presets import CapabilityPreset
from taskloom.resources.dimensions import DIMENSIONS, EXAMPLE_LEVELS, EXAMPLE_RANGE, LEVELS, Dimension
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.instances import bind_pool, fixtures_at_reset
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionAccount, CompositionRequest, Quota
from taskloom.taskgraph.measures.complexity import constraint_of
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Intent

_RANGE = re.compile(r"(\d{1,9})|(\d{1,9})\.\.|(\d{0,9})\.\.(\d{1,9})", re.ASCII)


def parse_quota_and_ranges(text: str, count: int) -> tuple[Quota, MeasureRanges]:
    """Parse a quota and ranges such as `knowledge=hard,instruction=6..8`.

    Raises:
        CommandError: a dimension is unknown or given twice, or a value is neither a level nor a range; the
            known ones are named.
    """
    levels: dict[str, tuple[str, ...]] = {}
    ranges: dict[str, tuple[int, int]] = {}
    for dimension, value in _named_values(text):
        match = _RANGE.fullmatch(value)
        if match:
            exact, minimum, low, high = match.groups()
            lowest, highest = MeasureRanges().of(dimension)
            ranges[dimension] = (int(exact or minimum or low or lowest), int(exact or high or highest))
            continue
        levels[dimension] = tuple(dict.fromkeys(name.strip() for name in value.split("|")))
        if not set(levels[dimension]) <= set(LEVELS):
            raise _level_error(f"{dimension}={value}")
    try:
        chosen = MeasureRanges.model_validate(ranges)
    except ValidationError as error:
        raise CommandError(f"{error.errors()[0]['msg'].removeprefix('Value error, ')}.") from None
    return Quota(levels=LevelConstraint.model_validate(levels), count=count), chosen


def _named_values(text: str) -> list[tuple[Dimension, str]]:
    """The parts of `knowledge=hard,instruction=3`, each dimension once."""
    values: dict[Dimension, str] = {}
    for part in text.split(","):
        name, _, value = (side.strip() for side in part.partition("="))
        dimension = next((known for known in DIMENSIONS if known == name), None)
        if dimension is None or not value:
            raise _level_error(part.strip())
        if dimension in values:
            raise CommandError(
                f"{dimension} occurs twice, as {values[dimension]} and {value}; write alternatives as"
                f" {dimension}=easy|medium."
            )
        values[dimension] = value
    return list(values.items())


def _level_error(part: str) -> CommandError:
    return CommandError(
        f"{part!r} is not a level; write one of {', '.join(DIMENSIONS)} = one of {', '.join(LEVELS)},"
        f" such as {EXAMPLE_LEVELS}, or a range of values, such as {EXAMPLE_RANGE}."
    )


def quotas_of_capabilities(names: Sequence[str], preset: str, count: int) -> tuple[Quota, ...]:
    """One quota of `count` tasks per capability.

    Raises:
        CommandError: an unknown capability or preset; the known ones are named.
    """
    from taskloom.resources.reading.catalog import load_capabilities

    known = {capability.name: capability for capability in load_capabilities()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise CommandError(f"there is no capability {unknown[0]!r}; known: {', '.join(known)}.")
    presets: dict[str, CapabilityPreset] = {"repaired": "repaired", "as_printed": "as_printed"}
    if preset not in presets:
        raise CommandError(f"there is no preset {preset!r}; known: {', '.join(presets)}.")
    return tuple(
        Quota(levels=constraint_of(known[name], presets[preset]), count=count, name=name)
        for name in dict.fromkeys(names)
    )


def request_of(
    settings: Settings,
    quotas: Sequence[Quota] = (),
    *,
    ranges: MeasureRanges | None = None,
    count: int | None = None,
) -> CompositionRequest:
    """The composition request of a run with these settings and the given changes; `quotas` replace theirs.

    Raises:
        CommandError: the changes contradict each other or the settings.
    """
    changes: dict[str, object] = {}
    if count is not None:
        changes["count"] = count
    if quotas:
        changes |= {"quotas": tuple(quotas), "level_quotas": {}}
    if ranges is not None:
        changes["ranges"] = ranges
    try:
        return CompositionRequest.model_validate(dict(settings.composition) | changes)
    except ValidationError as error:
        raise CommandError(describe_problems(error).strip()) from None


def plan_composition(
    subtasks: Sequence[Subtask],
    intents: Sequence[Intent],
    request: CompositionRequest,
    *,
    catalog: Path | None = None,
    seed: int = 0,
) -> CompositionAccount:
    """Compose without keeping the tasks; the account says what the pool can supply and what it lacks.

    Raises:
        CommandError: a subtask cannot be bound.
    """
    from taskloom.resources.reading.catalog import load_applications, load_resource_categories

    categories = load_resource_categories(catalog)
    known = load_applications(catalog)
    used = {subtask.application for subtask in subtasks}
    fixtures = fixtures_at_reset((known[name] for name in sorted(used & known.keys())), categories)
    pool, problems = bind_pool(subtasks, categories)
    if problems:
        raise CommandError(problems[0])
    result = compose(
        pool, intents, request, fixtures=fixtures, seed=seed, sense=Sense.of(list(subtasks), known)
    )
    for _ in result:
        pass
    return result.account
