"""What a kind of world must pass before tasks are made in it: shipped, written by hand, or written by a
model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.reading.catalog_links import check_links
from taskloom.resources.reading.translation import Translation
from taskloom.resources.reading.worlds import WorldRules, draw_world, drawn_problems, rule_problems
from taskloom.resources.reading.yaml_reading import show_field
from taskloom.resources.worlds import FIRST_WORLD, World

_SEEDS = range(1, 21)
"""Worlds whose terms are looked at, beside one for every word of the draws."""
_INTO = (1, 7)
"""Worlds that the whole catalogue is put into."""


def world_problems(
    rules: WorldRules,
    first: WorldRules,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> tuple[str, ...]:
    """Everything wrong with a kind of world, each with its place; empty if tasks can be made in it.

    Args:
        rules: the kind.
        first: the kind of the first world, which says what must be named.
        applications: the catalogue in the first world, by name.
        categories: resource categories by name.
    """
    found = [f"{show_field(item.field)}: {item.message}" for item in rule_problems(rules, first)]
    if found:
        return tuple(found)
    words = range(max((len(words) for words in rules.draws.values()), default=0))
    worlds = [*(draw_world(rules, seed) for seed in _SEEDS), *(draw_world(rules, 1, word) for word in words)]
    found = [
        f"{show_field(item.field)}: {item.message}" for world in worlds for item in drawn_problems(world)
    ]
    if not found:
        home = draw_world(first, 0)
        for seed in _INTO:
            found += _problems_in(home, draw_world(rules, seed), applications, categories)
    return tuple(dict.fromkeys(found))


def _problems_in(
    home: World,
    world: World,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> Iterator[str]:
    """What is wrong with the catalogue once it is put into a world."""
    translation = Translation(home, world)
    there = [
        translation.application(item, world.name)
        for item in applications.values()
        if item.has_worlds and item.world == FIRST_WORLD
    ]
    for name, problems in check_links(there, categories).items():
        yield from (f"{world.name}, {name}, {show_field(item.field)}: {item.message}" for item in problems)
    for application in there:
        before = applications[application.name]
        yield from (f"{world.name}, {application.name}: {text}" for text in _repeated(application, before))
        yield from (f"{world.name}, {application.name}: {text}" for text in _left_over(application, home))
        yield from (f"{world.name}, {application.name}: {text}" for text in _unreadable(application, before))


def _repeated(application: Application, before: Application) -> Iterator[str]:
    """Subtasks of which two parameter sets have become the same."""
    for subtask, earlier in zip(application.example_subtasks, before.example_subtasks, strict=True):
        sets = {tuple(sorted(values.items())) for values in subtask.parameter_sets}
        if len(sets) < len({tuple(sorted(values.items())) for values in earlier.parameter_sets}):
            yield f"two parameter sets of {subtask.name} have become the same"


def _left_over(application: Application, home: World) -> Iterator[str]:
    """Fixtures that still have their name of the first world."""
    names = set(home.terms.values()) - set(home.unchanged)
    for fixture in application.fixtures:
        if fixture.value in names or fixture.value.rpartition("/")[2] in names:
            yield f"{fixture.value!r} still has its name of the first world; give it another one"


def _unreadable(application: Application, before: Application) -> Iterator[str]:
    """Files of JSON and Python that were right and no longer are."""
    files = {item.value: item.content for item in application.fixtures if item.content}
    files |= application.preparation.files
    for path, text in files.items():
        if not path.endswith((".json", ".excalidraw", ".py")):
            continue
        content = content_of(text, application)
        try:
            compile(content, path, "exec") if path.endswith(".py") else json.loads(content)
        except ValueError as error:
            yield f"{path} cannot be read any more: {error}"
        except SyntaxError as error:
            yield f"{path} is no Python any more: {error.msg}, line {error.lineno}"
