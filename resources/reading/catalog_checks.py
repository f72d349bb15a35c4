"""Checks of catalogue entries and of their consistency: fixtures agree, and every input is a fixture or made
by some subtask."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from taskloom.resources.applications import (
    PATH_PARTS,
    PLACEHOLDERS,
    Application,
    ExampleSubtask,
    Fixture,
    ResourceDeclaration,
    WorkedStep,
)
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.errors import UnknownCatalogEntryError, suggest
from taskloom.resources.instances import Resource, bind_resource
from taskloom.resources.reading.yaml_reading import Field, Problem

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_NEW_CATEGORIES = ". New ones belong in resource_categories.yaml in the folder of the catalogue"
_PINNED = {
    "pip": (re.compile(r"^[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?==[^=*]+$"), "name==version"),
    "npm": (re.compile(r"^(@[a-z0-9._-]+/)?[A-Za-z0-9._-]+@\d[^@]*$"), "name@version"),
}


def check_application(
    application: Application,
    categories: Mapping[str, ResourceCategory],
    application_categories: Collection[str],
) -> list[Problem]:
    """All mistakes in one entry by itself."""
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
        for example in ("worked_example", "second_example"):
            for position, step in enumerate(getattr(subtask, example)):
                problems += _check_step(step, subtask, (*at, example, position))
        if subtask.second_example == subtask.worked_example:
            message = "is the same as the worked example; give another way, or none"
            problems.append(Problem((*at, "second_example"), message))
    return problems


def _check_head(application: Application, application_categories: Collection[str]) -> Iterator[Problem]:
    if application.category not in application_categories:
        hint = suggest(application.category, application_categories)
        yield Problem(("category",), f"{application.category!r} is not an application category; {hint}")
    for manager, (pinned, form) in _PINNED.items():
        for index, package in enumerate(getattr(application.installation, manager)):
            if not pinned.match(package):
                yield Problem(("installation", manager, index), f"{package!r} is not pinned; write {form}")
    texts = {("installation", "site", key): text for key, text in application.installation.site.items()}
    texts |= {("preparation", "files", key): text for key, text in application.preparation.files.items()}
    for field, text in texts.items():
        yield from _check_content(text, application, field)
    yield from _check_placeholders(application)


def _check_placeholders(application: Application) -> Iterator[Problem]:
    """Check the placeholders of launch and commands; in file contents, braces may be literal."""
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
    except (UnknownCatalogEntryError, ValueError) as error:
        yield Problem(field, str(error))


def _check_fixture(
    fixture: Fixture, application: Application, categories: Mapping[str, ResourceCategory], at: Field
) -> Iterator[Problem]:
    category = categories.get(fixture.category)
    if category is None:
        yield _unknown_category(fixture.category, categories, at)
    elif category.is_slot:
        reason = f"({category.kind.value}) is empty after a reset, so it cannot be a fixture"
        yield Problem((*at, "category"), f"{fixture.category!r} {reason}")
    elif category.kind is ResourceKind.FILE:
        yield from _check_path(fixture.value, (*at, "value"))
    yield from _check_content(fixture.content, application, (*at, "content"))


def _unknown_category(name: str, categories: Mapping[str, ResourceCategory], at: Field) -> Problem:
    hint = f"{suggest(name, categories)}{_NEW_CATEGORIES}"
    return Problem((*at, "category"), f"{name!r} is not a resource category; {hint}")


def _check_path(value: str, field: Field) -> Iterator[Problem]:
    parts = value.split("/")
    if not value or value.startswith(("/", "~")) or "\\" in value or ".." in parts or "" in parts:
        message = f"{value!r} is not a path inside the sandbox home; write it like Documents/a.csv"
        yield Problem(field, message)


def _check_parameters(subtask: ExampleSubtask, at: Field) -> Iterator[Problem]:
    names = set(subtask.parameter_sets[0])
    for index, values in enumerate(subtask.parameter_sets):
        field = (*at, "parameter_sets", index)
        if set(values) != names:
            difference = f"has the parameters {sorted(values)}, the first set has {sorted(names)}"
            yield Problem(field, f"{difference}; all sets need the same")
        elif values in subtask.parameter_sets[:index]:
            yield Problem(field, "repeats an earlier set")
    used = set(_PLACEHOLDER.findall(subtask.instruction_template))
    if used != names:
        missing, unused = sorted(used - names), sorted(names - used)
        messages = [f"no parameter set gives {missing}"] if missing else []
        messages += [f"the parameters {unused} are not in the template"] if unused else []
        yield Problem((*at, "instruction_template"), "; ".join(messages))
    for index, name in enumerate(subtask.fresh):
        if name not in names:
            yield Problem((*at, "fresh", index), f"{name!r} is not a parameter; {suggest(name, names)}")


def _check_resource(
    item: ResourceDeclaration, subtask: ExampleSubtask, categories: Mapping[str, ResourceCategory], at: Field
) -> Iterator[Problem]:
    category = categories.get(item.category)
    names = subtask.parameter_sets[0]
    if category is None:
        yield _unknown_category(item.category, categories, at)
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
        yield Problem((*at, "seconds"), f"{step.seconds} is not allowed; must be between 0 and 5")
    names = set(subtask.parameter_sets[0])
    known = names | {name + part for name in names for part in PATH_PARTS}
    texts = [("keys", step.keys)]
    if (control := step.control) is not None:
        parts = (control.text, control.parent_text, control.row or "", control.section or "")
        texts += [("control", text) for text in parts]
    for field, text in texts:
        for name in _PLACEHOLDER.findall(text):
            if name not in known:
                yield Problem((*at, field), f"{{{name}}} is not a parameter; {suggest(name, names)}")


def check_links(
    applications: Iterable[Application], categories: Mapping[str, ResourceCategory]
) -> dict[str, list[Problem]]:
    """All inconsistencies between entries, by application; each entry must be valid by itself."""
    entries = list(applications)
    outputs = {output for application in entries for output in _outputs_of(application, categories)}
    contents: dict[str, tuple[str, bytes]] = {}
    problems = {
        item.name: [*_check_contents(item, categories, contents), *_check_inputs(item, categories, outputs)]
        for item in entries
    }
    return {name: found for name, found in problems.items() if found}


def _outputs_of(application: Application, categories: Mapping[str, ResourceCategory]) -> Iterator[Resource]:
    """The files and records that the curated subtasks of an application make, with every parameter set."""
    for subtask in application.example_subtasks:
        for item in subtask.outputs:
            if item.parameter and not categories[item.category].is_slot:
                for values in subtask.parameter_sets:
                    yield bind_resource(categories[item.category], application.name, values[item.parameter])


def fixtures_of(application: Application, categories: Mapping[str, ResourceCategory]) -> Iterator[Resource]:
    """The files and records that exist after every reset of an application."""
    for fixture in application.fixtures:
        yield bind_resource(categories[fixture.category], application.name, fixture.value)


def _check_contents(
    application: Application,
    categories: Mapping[str, ResourceCategory],
    contents: dict[str, tuple[str, bytes]],
) -> Iterator[Problem]:
    for index, fixture in enumerate(application.fixtures):
        if categories[fixture.category].kind is not ResourceKind.FILE:
            continue
        content = content_of(fixture.content, application)
        owner, first = contents.setdefault(fixture.value, (application.name, content))
        if first != content:
            difference = f"differs from the content of {fixture.value!r} in {owner!r}"
            rule = "a path has one content in the whole catalogue, preferably an asset"
            yield Problem(("fixtures", index, "content"), f"{difference}; {rule}")


def _check_inputs(
    application: Application, categories: Mapping[str, ResourceCategory], outputs: set[Resource]
) -> Iterator[Problem]:
    available = outputs | set(fixtures_of(application, categories))
    for index, subtask in enumerate(application.example_subtasks):
        for item in subtask.inputs:
            category = categories[item.category]
            for position, values in enumerate(() if category.is_slot else subtask.parameter_sets):
                value = values[item.parameter]
                if bind_resource(category, application.name, value) in available:
                    continue
                yield Problem(
                    ("example_subtasks", index, "parameter_sets", position, item.parameter),
                    f"{value!r} is needed as {category.name!r}, but is not a fixture of {application.name!r}"
                    " and no subtask of the catalogue makes it; add a fixture, or use a value that is made",
                )
