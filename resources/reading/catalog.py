"""The catalogue: applications, resource categories, scenarios and capabilities, read from YAML and
validated."""

from __future__ import annotations

from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from taskloom.resources.applications import Application
from taskloom.resources.assets import catalog_folder
from taskloom.resources.capability_presets import Capability
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import CatalogEntryInvalidError, UnknownCatalogEntryError
from taskloom.resources.reading.catalog_checks import check_application
from taskloom.resources.reading.catalog_links import check_links
from taskloom.resources.reading.catalog_shorthand import expand_application
from taskloom.resources.reading.yaml_reading import Problem, YamlFile, parse_entry, parse_list, read_yaml
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


def load_application(name: str, extra: Path | None = None) -> Application:
    """The application `name` of the built-in catalogue, or of the user's in the folder `extra`.

    Raises:
        UnknownCatalogEntryError: nobody defined it (names the known ones).
        CatalogEntryInvalidError: its entry, or another one, is wrong.
    """
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
        for source in _read_folder(folder / "applications"):
            application = parse_entry(source, expand_application(source.content), Application)
            stem = source.name.rsplit("/", 1)[-1].removesuffix(".yaml")
            problems = []
            if application.name != stem:
                problems.append(Problem(("name",), f"{application.name!r} must be the file's name, {stem!r}"))
            if application.name in entries:
                first = sources[application.name].name
                problems.append(
                    Problem(
                        ("name",), f"{application.name!r} is already defined in {first}; take another name"
                    )
                )
            if isinstance(folder, Path) and folder == extra:
                application = application.model_copy(update={"catalog_folder": str(folder)})
            problems += check_application(application, categories, groups)
            if problems:
                raise source.reject(problems)
            entries[application.name] = application
            sources[application.name] = source
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
    """All resource categories by name, those of a user's catalogue folder included.

    Raises:
        CatalogEntryInvalidError: an entry is wrong or occurs twice.
        UnknownCatalogEntryError: `extra` is not a folder.
    """
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
    """The 20 scenarios (App. A.5).

    Raises:
        CatalogEntryInvalidError: a scenario names an unknown application category, or repeats another's.
    """
    source, scenarios = _records(catalog_folder(), "scenarios.yaml", Scenario)
    known = set(load_application_categories())
    problems = [
        Problem(
            (index, "application_categories"), f"unknown: {sorted(set(item.application_categories) - known)}"
        )
        for index, item in enumerate(scenarios)
        if not known.issuperset(item.application_categories)
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


def _read_folder(folder: Traversable) -> list[YamlFile]:
    items = sorted(folder.iterdir(), key=lambda item: item.name)
    return [_read(item, f"applications/{item.name}") for item in items if item.name.endswith(".yaml")]


def _read(item: Traversable, name: str) -> YamlFile:
    shown = str(item) if isinstance(item, Path) and catalog_folder() not in item.parents else name
    try:
        return read_yaml(item.read_text(encoding="utf-8"), shown)
    except UnicodeDecodeError as error:
        raise CatalogEntryInvalidError(f"{shown}:1: not UTF-8 text: {error.reason}") from error
