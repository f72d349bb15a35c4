"""Requests for composition out of what a user types, and the answer to "can the pool supply that?"."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from flows.command_errors import CommandError
from resources.capability_presets import CapabilityPreset
from synthesis.composing.binding import bind_pool, fixtures_at_reset
from synthesis.composing.request import CompositionAccount, CompositionRequest, Quota
from synthesis.composition import compose
from taskgraph.capabilities import constraint_of
from taskgraph.cells import LevelConstraint
from taskgraph.complexity import DIMENSIONS, LEVELS
from taskgraph.ranges import MeasureRanges
from taskgraph.subtask import Subtask
from taskgraph.task import Intent

_RANGE = re.compile(r"(\d*)(?:(\.\.)(\d*))?")


def wish_of(text: str, count: int) -> tuple[Quota, MeasureRanges]:
    """A quota and ranges out of `hierarchy=hard,branch=medium|hard,instruction=6..8`.

    Raises:
        CommandError: an unknown dimension, or neither level nor range; what is known is named.
    """
    levels, ranges = [], {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        dimension, _, value = (side.strip() for side in part.partition("="))
        found = _RANGE.fullmatch(value)
        if found and dimension in DIMENSIONS:
            low = int(found[1] or 0)
            high = int(found[3] or 0) if found[2] else low
            ranges[dimension] = (low, high or MeasureRanges.model_fields[dimension].default[1])
        else:
            levels.append(part)
    try:
        chosen = MeasureRanges.model_validate(ranges)
    except ValidationError as error:
        raise CommandError(f"{error.errors()[0]['msg'].removeprefix('Value error, ')}.") from None
    return quota_of_levels(",".join(levels), count), chosen


def quota_of_levels(text: str, count: int) -> Quota:
    """A quota out of `hierarchy=hard,branch=medium|hard`.

    Raises:
        CommandError: an unknown dimension or level; the known ones are named.
    """
    levels: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        dimension, equals, names = part.partition("=")
        chosen = tuple(name.strip() for name in names.split("|"))
        if not equals or dimension.strip() not in DIMENSIONS or not set(chosen) <= set(LEVELS):
            raise CommandError(
                f"{part!r} is no level; write one of {', '.join(DIMENSIONS)} = one of {', '.join(LEVELS)},"
                " such as hierarchy=hard or branch=medium|hard, or a range of values, such as hierarchy=5..6."
            )
        levels[dimension.strip()] = chosen
    return Quota(levels=LevelConstraint.model_validate(levels), count=count)


def quotas_of_capabilities(names: Sequence[str], preset: str, count: int) -> tuple[Quota, ...]:
    """One quota of `count` tasks per capability.

    Raises:
        CommandError: an unknown capability or preset; the known ones are named.
    """
    from resources.catalog_loading import load_capabilities

    known = {capability.name: capability for capability in load_capabilities()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise CommandError(f"there is no capability {unknown[0]!r}; known: {', '.join(known)}.")
    presets: dict[str, CapabilityPreset] = {"repaired": "repaired", "as_printed": "as_printed"}
    if preset not in presets:
        raise CommandError(f"there is no preset {preset!r}; known: {', '.join(presets)}.")
    return tuple(
        Quota(levels=constraint_of(known[name], presets[preset]), count=count, name=name) for name in names
    )


def quotas_from_table(file: Path) -> tuple[Quota, ...]:
    """Quotas out of a CSV table: a column per dimension (empty: any level) and `count`.

    Raises:
        CommandError: the file cannot be read, or a row is wrong; file and line are named.
    """
    try:
        with file.open(newline="", encoding="utf-8-sig") as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    quotas = []
    for line, row in enumerate(rows, start=2):
        unknown = sorted(str(name) for name in row if name not in (*DIMENSIONS, "count"))
        if unknown:
            raise CommandError(
                f"{file}: unknown column {unknown[0]!r}; known: {', '.join(DIMENSIONS)}, count."
            )
        parts = [f"{name}={row[name].strip()}" for name in DIMENSIONS if (row.get(name) or "").strip()]
        try:
            number = int(row.get("count") or "")
            quotas.append(quota_of_levels(",".join(parts), number))
        except (ValueError, ValidationError):
            raise CommandError(
                f"{file}:{line}: count is {row.get('count')!r}; it must be 1 or more."
            ) from None
        except CommandError as error:
            raise CommandError(f"{file}:{line}: {error}") from None
    if not quotas:
        raise CommandError(f"{file} has no rows.")
    return tuple(quotas)


def subtasks_in(file: Path) -> list[Subtask]:
    """Subtask records out of a file of JSON lines.

    Raises:
        CommandError: the file cannot be read, or a line is no subtask record; file and line are named.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    subtasks = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                subtasks.append(Subtask.model_validate_json(line))
            except ValidationError as error:
                first = error.errors()[0]
                field = ".".join(str(part) for part in first["loc"]) or "line"
                raise CommandError(f"{file}:{number}: {field}: {first['msg']}.") from None
    return subtasks


def plan_composition(
    subtasks: Sequence[Subtask],
    intents: Sequence[Intent],
    quotas: Sequence[Quota],
    *,
    count: int,
    maximum_size: int,
    maximum_components: int,
    seed: int,
    ranges: MeasureRanges | None = None,
) -> CompositionAccount:
    """Compose and throw away: the account says what the pool can supply and what it lacks.

    Raises:
        CommandError: a subtask cannot be bound.
    """
    from resources.catalog_loading import load_applications, load_resource_categories

    categories = load_resource_categories()
    known = load_applications()
    used = {subtask.application for subtask in subtasks}
    fixtures = fixtures_at_reset((known[name] for name in sorted(used & known.keys())), categories)
    pool, problems = bind_pool(subtasks, categories)
    if problems:
        raise CommandError(problems[0])
    request = CompositionRequest(
        count=count,
        quotas=tuple(quotas),
        maximum_size=maximum_size,
        maximum_components=maximum_components,
        seed=seed,
        orders_listed=1,
        ranges=ranges or MeasureRanges(),
    )
    result = compose(pool, intents, request, fixtures=fixtures)
    for _ in result:
        pass
    return result.account
