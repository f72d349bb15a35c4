"""What a kind of world must pass before tasks are made in it: shipped, written by hand, or written by a
model."""

import json
from collections.abc import Iterator, Mapping

from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.reading.catalog_links import check_links
from taskloom.resources.reading.translation import Translation
from taskloom.resources.reading.worlds import WorldRules, draw_world, drawn_problems, rule_problems
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

    The kind of the `first` world says what must be named; `applications` are those of the first world.
    """
    found = list(map(str, rule_problems(rules, first)))
    if found:
        return tuple(found)
    words = range(max((len(words) for words in rules.draws.values()), default=0))
    worlds = [*(draw_world(rules, seed) for seed in _SEEDS), *(draw_world(rules, 1, word) for word in words)]
    found = [str(item) for world in worlds for item in drawn_problems(world)]
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
    translation = Translation(home, world)
    there = [
        translation.application(item, world.name)
        for item in applications.values()
        if item.has_worlds and item.world == FIRST_WORLD
    ]
    for name, problems in check_links(there, categories).items():
        yield from (f"{world.name}, {name}, {item}" for item in problems)
    for item in there:
        before = applications[item.name]
        found = (*_repeated(item, before), *_left_over(item, home), *_unreadable(item, before))
        yield from (f"{world.name}, {item.name}: {text}" for text in found)


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
