"""The catalogue: applications, resource categories, scenarios and capabilities, read from YAML and
validated."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from taskloom.resources.applications import (
    PLACEHOLDERS,
    Application,
    ExampleSubtask,
    Fixture,
    ResourceDeclaration,
    WorkedStep,
)
from taskloom.resources.assets import catalog_folder, content_of
from taskloom.resources.capability_presets import Capability
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.errors import UnknownCatalogEntryError, suggest
from taskloom.resources.path_parts import PATH_PARTS
from taskloom.resources.reading.catalog_links import check_links
from taskloom.resources.reading.catalog_shorthand import expand_application
from taskloom.resources.reading.yaml_reading import (
    Field,
    Problem,
    YamlFile,
    parse_entry,
    parse_list,
    read_file,
)
from taskloom.resources.record import Record
from taskloom.resources.scenarios import PaperCategory, Scenario

RecordType = TypeVar("RecordType", bound=Record)


def load_applications(extra: Path | None = None) -> dict[str, Application]:
    """All applications by name: those that ship, and those of a user's catalogue folder `extra`.

    `extra` is laid out like the shipped catalogue (`applications/<name>.yaml`, `assets/`, and optionally
    `resource_categories.yaml` with further categories) and is validated alike.

    Raises:
        CatalogEntryInvalidError: an entry is wrong, or a user's entry has the name of another; every mistake
            of the file stands in the message with line, field and allowed values.
        UnknownCatalogEntryError: `extra` is not a folder.
    """
    return dict(_applications(extra.resolve() if extra else None))


def read_anew() -> None:
    """Have the catalogues read again: a file of a user's was written."""
    _applications.cache_clear()
    _categories.cache_clear()


def load_application(name: str, extra: Path | None = None) -> Application:
    """The application `name`; errors as `load_applications`, and where nobody defined it."""
    applications = load_applications(extra)
    if name not in applications:
        raise UnknownCatalogEntryError("application", name, applications)
    return applications[name]


@cache
def _applications(extra: Path | None) -> tuple[tuple[str, Application], ...]:
    categories = load_resource_categories(extra)
    groups = load_application_categories()
    entries: dict[str, Application] = {}
    sources: dict[str, YamlFile] = {}
    for folder in _folders(extra):
        if not (folder / "applications").is_dir():
            continue
        shipped = folder == catalog_folder()
        for source in _read_shipped() if shipped else _read_folder(folder / "applications"):
            application = parse_entry(source, expand_application(source.content), Application)
            stem = source.name.rsplit("/", 1)[-1].removesuffix(".yaml")
            name, problems = application.name, []
            if name != stem:
                problems.append(Problem(("name",), f"{name!r} must be the file's name, {stem!r}"))
            if name in entries:
                taken = f"{name!r} is already defined in {sources[name].name}; take another name"
                problems.append(Problem(("name",), taken))
            if isinstance(folder, Path) and folder == extra:
                application = application.model_copy(update={"catalog_folder": str(folder)})
            problems += check_application(application, categories, groups)
            if problems:
                raise source.reject(problems)
            entries[name], sources[name] = application, source
    for name, found in check_links(entries.values(), categories).items():
        raise sources[name].reject(found)
    return tuple(sorted(entries.items()))


@cache
def _categories(extra: Path | None) -> tuple[ResourceCategory, ...]:
    found: dict[str, ResourceCategory] = {}
    for folder in _folders(extra):
        if folder == extra and not (folder / "resource_categories.yaml").is_file():
            continue
        source, records = _records(folder, "resource_categories.yaml", ResourceCategory)
        for index, category in enumerate(records):
            if category.name in found:
                raise source.reject([Problem((index, "name"), f"{category.name!r} is already defined")])
            found[category.name] = category
    return tuple(found.values())


def load_resource_categories(extra: Path | None = None) -> dict[str, ResourceCategory]:
    """All resource categories by name, those of a user's catalogue folder included; errors as
    `load_applications`, and where one occurs twice."""
    return {category.name: category for category in _categories(extra.resolve() if extra else None)}


@cache
def load_paper_applications() -> tuple[PaperCategory, ...]:
    """The paper's 49 applications in 12 categories (Table 11)."""
    return _records(catalog_folder(), "paper_applications.yaml", PaperCategory)[1]


def load_application_categories() -> tuple[str, ...]:
    """Names of the 12 application categories, in the order of Table 11."""
    return tuple(item.category for item in load_paper_applications())


@cache
def load_scenarios() -> tuple[Scenario, ...]:
    """The 20 scenarios (App. A.5), checked for unknown application categories and repetitions."""
    source, scenarios = _records(catalog_folder(), "scenarios.yaml", Scenario)
    known = set(load_application_categories())
    problems = [
        Problem((index, "application_categories"), f"unknown: {sorted(unknown)}")
        for index, item in enumerate(scenarios)
        if (unknown := set(item.application_categories) - known)
    ]
    if len({frozenset(item.application_categories) for item in scenarios}) != len(scenarios):
        problems.append(Problem((), "two scenarios have the same application categories"))
    if problems:
        raise source.reject(problems)
    return scenarios


@cache
def load_capabilities() -> tuple[Capability, ...]:
    """The ten capabilities with the levels they demand, as printed and repaired (Table 12)."""
    return _records(catalog_folder(), "capabilities.yaml", Capability)[1]


def _folders(extra: Path | None) -> list[Traversable]:
    if extra is None:
        return [catalog_folder()]
    if not extra.is_dir():
        raise UnknownCatalogEntryError("catalogue folder", str(extra), [])
    return [catalog_folder(), extra]


def _records(
    folder: Traversable, name: str, record: type[RecordType]
) -> tuple[YamlFile, tuple[RecordType, ...]]:
    source = _read(folder / name, name)
    return source, parse_list(source, record)


def _read_folder(folder: Traversable) -> tuple[YamlFile, ...]:
    items = sorted(folder.iterdir(), key=lambda item: item.name)
    return tuple(_read(item, f"applications/{item.name}") for item in items if item.name.endswith(".yaml"))


@cache
def _read_shipped() -> tuple[YamlFile, ...]:
    """Reading is most of the work of loading, and users' catalogues are checked beside these entries."""
    return _read_folder(catalog_folder() / "applications")


def _read(item: Traversable, name: str) -> YamlFile:
    foreign = isinstance(item, Path) and catalog_folder() not in item.parents
    return read_file(item, str(item) if foreign else name)


_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_NEW_CATEGORIES = ". New ones belong into resource_categories.yaml in the folder of the catalogue"
_PINNED = {
    "pip": (re.compile(r"^[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?==[^=*]+$"), "name==version"),
    "npm": (re.compile(r"^(@[a-z0-9._-]+/)?[A-Za-z0-9._-]+@\d[^@]*$"), "name@version"),
}


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
            same = "is the same as the worked example; give another way, or none"
            problems.append(Problem((*at, "second_example"), same))
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
    except (UnknownCatalogEntryError, ValueError) as error:
        yield Problem(field, str(error))


def _check_fixture(
    fixture: Fixture, application: Application, categories: Mapping[str, ResourceCategory], at: Field
) -> Iterator[Problem]:
    category = categories.get(fixture.category)
    if category is None:
        yield _no_category(fixture.category, categories, at)
    elif not category.may_exist_at_reset:
        why = f"({category.kind.value}) is empty after a reset, so it cannot be a fixture"
        yield Problem((*at, "category"), f"{fixture.category!r} {why}")
    elif category.kind is ResourceKind.FILE:
        yield from _check_path(fixture.value, (*at, "value"))
    yield from _check_content(fixture.content, application, (*at, "content"))


def _no_category(name: str, categories: Mapping[str, ResourceCategory], at: Field) -> Problem:
    hint = f"{suggest(name, categories)}{_NEW_CATEGORIES}"
    return Problem((*at, "category"), f"{name!r} is not a resource category; {hint}")


def _check_path(value: str, field: Field) -> Iterator[Problem]:
    parts = value.split("/")
    if not value or value.startswith(("/", "~")) or "\\" in value or ".." in parts or "" in parts:
        form = "is not a path inside the sandbox home; write it like Documents/a.csv"
        yield Problem(field, f"{value!r} {form}")


def _check_parameters(subtask: ExampleSubtask, at: Field) -> Iterator[Problem]:
    names = set(subtask.parameter_sets[0])
    for index, values in enumerate(subtask.parameter_sets):
        place = (*at, "parameter_sets", index)
        if set(values) != names:
            found = f"has the parameters {sorted(values)}, the first set has {sorted(names)}"
            yield Problem(place, f"{found}; all sets need the same")
        elif values in subtask.parameter_sets[:index]:
            yield Problem(place, "repeats an earlier set")
    wanted = set(_PLACEHOLDER.findall(subtask.instruction_template))
    if wanted != names:
        missing, unused = sorted(wanted - names), sorted(names - wanted)
        what = [f"no parameter set gives {missing}"] if missing else []
        what += [f"the parameters {unused} are not in the template"] if unused else []
        yield Problem((*at, "instruction_template"), "; ".join(what))
    for index, name in enumerate(subtask.fresh):
        if name not in names:
            yield Problem((*at, "fresh", index), f"{name!r} is not a parameter; {suggest(name, names)}")


def _check_resource(
    item: ResourceDeclaration, subtask: ExampleSubtask, categories: Mapping[str, ResourceCategory], at: Field
) -> Iterator[Problem]:
    category = categories.get(item.category)
    names = subtask.parameter_sets[0]
    if category is None:
        yield _no_category(item.category, categories, at)
    elif not item.parameter and not category.is_slot:
        lacks = f"({category.kind.value}) needs the parameter that gives its value"
        yield Problem(at, f"{item.category!r} {lacks}")
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
    texts = [("keys", step.keys)]
    if (control := step.control) is not None:
        named = (control.text, control.parent_text, control.row or "", control.section or "")
        texts += [("control", text) for text in named]
    for field, text in texts:
        for name in _PLACEHOLDER.findall(text):
            if name not in known:
                yield Problem((*at, field), f"{{{name}}} is not a parameter; {suggest(name, names)}")
