"""What a schema cannot say about one catalogue entry: names that must exist, and forms that values must
have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from taskloom.resources.applications import (
    PLACEHOLDERS,
    Application,
    ExampleSubtask,
    Fixture,
    ResourceDeclaration,
    WorkedStep,
)
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.path_parts import PATH_PARTS
from taskloom.resources.reading.yaml_reading import Field, Problem, suggest

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_NEW_CATEGORIES = ". New ones belong into resource_categories.yaml in the folder of the catalogue"
_PINNED_PIP = re.compile(r"^[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?==[^=*]+$")
_PINNED_NPM = re.compile(r"^(@[a-z0-9._-]+/)?[A-Za-z0-9._-]+@\d[^@]*$")


def check_application(
    application: Application,
    categories: Mapping[str, ResourceCategory],
    application_categories: Collection[str],
) -> list[Problem]:
    """Everything wrong with one entry by itself; empty when it is right."""
    problems = list(_check_head(application, application_categories))
    for index, fixture in enumerate(application.fixtures):
        problems += _check_fixture(fixture, application, categories, ("fixtures", index))
    seen: set[str] = set()
    for index, subtask in enumerate(application.example_subtasks):
        at: Field = ("example_subtasks", index)
        if subtask.name in seen:
            problems.append(Problem((*at, "name"), f"{subtask.name!r} occurs twice; names must differ"))
        seen.add(subtask.name)
        problems += _check_parameters(subtask, at)
        for direction in ("inputs", "outputs"):
            for position, item in enumerate(getattr(subtask, direction)):
                problems += _check_resource(item, subtask, categories, (*at, direction, position))
        for way in ("worked_example", "second_example"):
            for position, step in enumerate(getattr(subtask, way)):
                problems += _check_step(step, subtask, (*at, way, position))
        if subtask.second_example == subtask.worked_example:
            problems.append(
                Problem(
                    (*at, "second_example"), "is the same as the worked example; give another way, or none"
                )
            )
    return problems


def _check_head(application: Application, application_categories: Collection[str]) -> Iterator[Problem]:
    if application.category not in application_categories:
        yield Problem(
            ("category",),
            f"{application.category!r} is not an application category;"
            f" {suggest(application.category, application_categories)}",
        )
    for index, package in enumerate(application.installation.pip):
        if not _PINNED_PIP.match(package):
            yield Problem(("installation", "pip", index), f"{package!r} is not pinned; write name==version")
    for index, package in enumerate(application.installation.npm):
        if not _PINNED_NPM.match(package):
            yield Problem(("installation", "npm", index), f"{package!r} is not pinned; write name@version")
    texts = {("installation", "site", key): text for key, text in application.installation.site.items()}
    texts |= {("preparation", "files", key): text for key, text in application.preparation.files.items()}
    for field, text in texts.items():
        yield from _check_content(text, application, field)
    yield from _check_placeholders(application)


def _check_placeholders(application: Application) -> Iterator[Problem]:
    """Only what has no braces of its own: in a file's content, braces may be part of the content."""
    launch, commands = application.launch, application.preparation.commands
    texts: dict[Field, str] = {
        ("launch", "command", index): text for index, text in enumerate(launch.command)
    }
    texts |= {("launch", "environment", name): text for name, text in launch.environment.items()}
    texts[("launch", "serve")] = launch.serve
    for number, command in enumerate(commands):
        texts |= {("preparation", "commands", number, index): text for index, text in enumerate(command)}
    for field, text in texts.items():
        for name in _PLACEHOLDER.findall(text):
            if name not in PLACEHOLDERS:
                yield Problem(field, f"{{{name}}} is not filled in; {suggest(name, PLACEHOLDERS)}")


def _check_content(text: str, application: Application, field: Field) -> Iterator[Problem]:
    try:
        content_of(text, application)
    except UnknownCatalogEntryError as error:
        yield Problem(field, str(error))


def _check_fixture(
    fixture: Fixture, application: Application, categories: Mapping[str, ResourceCategory], at: Field
) -> Iterator[Problem]:
    category = categories.get(fixture.category)
    if category is None:
        yield Problem(
            (*at, "category"),
            f"{fixture.category!r} is not a resource category;"
            f" {suggest(fixture.category, categories)}{_NEW_CATEGORIES}",
        )
    elif not category.may_exist_at_reset:
        yield Problem(
            (*at, "category"),
            f"{fixture.category!r} ({category.kind.value}) is empty after a reset, so it cannot be a fixture",
        )
    elif category.kind is ResourceKind.FILE:
        yield from _check_path(fixture.value, (*at, "value"))
    yield from _check_content(fixture.content, application, (*at, "content"))


def _check_path(value: str, field: Field) -> Iterator[Problem]:
    parts = value.split("/")
    if not value or value.startswith(("/", "~")) or "\\" in value or ".." in parts or "" in parts:
        yield Problem(
            field, f"{value!r} is not a path inside the sandbox home; write it like Documents/a.csv"
        )


def _check_parameters(subtask: ExampleSubtask, at: Field) -> Iterator[Problem]:
    names = set(subtask.parameter_sets[0])
    for index, values in enumerate(subtask.parameter_sets):
        if set(values) != names:
            yield Problem(
                (*at, "parameter_sets", index),
                f"has the parameters {sorted(values)}, the first set has {sorted(names)}; all sets need the"
                " same",
            )
        elif values in subtask.parameter_sets[:index]:
            yield Problem((*at, "parameter_sets", index), "repeats an earlier set")
    wanted = set(_PLACEHOLDER.findall(subtask.instruction_template))
    if wanted != names:
        missing, unused = sorted(wanted - names), sorted(names - wanted)
        what = [f"no parameter set gives {missing}"] if missing else []
        what += [f"the parameters {unused} are not in the template"] if unused else []
        yield Problem((*at, "instruction_template"), "; ".join(what))
    for index, name in enumerate(subtask.fresh):
        if name not in names:
            yield Problem((*at, "fresh", index), f"{name!r} is not a parameter; {suggest(name, names)}")
    product = subtask.phrases.product
    told = set(_PLACEHOLDER.findall(product))
    untold = sorted(name for name in names if not told & {name, *(name + part for part in PATH_PARTS)})
    if product and untold:
        yield Problem(
            (*at, "phrases", "product"),
            f"does not name {untold}; it takes the place of the request, so name all parameters, or leave it"
            " out",
        )


def _check_resource(
    item: ResourceDeclaration, subtask: ExampleSubtask, categories: Mapping[str, ResourceCategory], at: Field
) -> Iterator[Problem]:
    category = categories.get(item.category)
    names = subtask.parameter_sets[0]
    if category is None:
        hint = f"{suggest(item.category, categories)}{_NEW_CATEGORIES}"
        yield Problem((*at, "category"), f"{item.category!r} is not a resource category; {hint}")
    elif not item.parameter and not category.is_slot:
        yield Problem(
            at, f"{item.category!r} ({category.kind.value}) needs the parameter that gives its value"
        )
    if item.parameter and item.parameter not in names:
        hint = suggest(item.parameter, names)
        yield Problem((*at, "parameter"), f"{item.parameter!r} is not a parameter; {hint}")
    elif category is not None and category.kind is ResourceKind.FILE and item.parameter:
        for index, values in enumerate(subtask.parameter_sets):
            field = (*at[:2], "parameter_sets", index, item.parameter)
            yield from _check_path(values.get(item.parameter, ""), field)


def _check_step(step: WorkedStep, subtask: ExampleSubtask, at: Field) -> Iterator[Problem]:
    if step.control is None and step.operation in ("click_input", "drag_input"):
        yield Problem(at, f"{step.operation} needs a control")
    if step.operation == "keyboard_input" and not step.keys:
        yield Problem(at, "keyboard_input needs keys")
    if step.operation == "drag_input" and len(step.path) < 2:
        yield Problem((*at, "path"), "a drag needs at least two points")
    if not 0 <= step.seconds <= 5:
        yield Problem((*at, "seconds"), f"{step.seconds} is not allowed; between 0 and 5")
    names = set(subtask.parameter_sets[0])
    known = names | {name + part for name in names for part in PATH_PARTS}
    texts: Sequence[tuple[str, str]] = [("keys", step.keys)]
    if step.control is not None:
        texts = [*texts, ("control", step.control.text), ("control", step.control.parent_text)]
    for field, text in texts:
        for name in _PLACEHOLDER.findall(text):
            if name not in known:
                yield Problem((*at, field), f"{{{name}}} is not a parameter; {suggest(name, names)}")
