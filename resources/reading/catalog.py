"""The catalogue: applications, resource categories, scenarios and capabilities, read from YAML and validated.

Short notations of entries, which are expanded first:

- a resource: `csv_path` for `{category: csv_path, parameter: csv_path}`; without the parameter if the subtask
  has none of that name (a bare slot such as `text_in_clipboard`)
- a step: `{click: Save}`, `{double_click: Save}`, `{right_click: Save}`, `{type: "^s"}`, `{type: x, into:
  Name}`, `{wheel: -3, over: List}`, `{drag: Canvas, path: [[0.1, 0.1], [0.5, 0.5]]}`, `{wait: 0.5}`, each
  optionally with further fields of a step
- a control: `Save` for `{text: Save}`
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from taskloom.resources.applications import Application
from taskloom.resources.assets import catalog_folder
from taskloom.resources.capability_presets import Capability
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.reading.catalog_checks import check_application, check_links
from taskloom.resources.reading.yaml_reading import Problem, YamlFile, parse_entry, parse_list, read_file
from taskloom.resources.record import Record
from taskloom.resources.scenarios import PaperCategory, Scenario

RecordType = TypeVar("RecordType", bound=Record)


def load_applications(extra: Path | None = None) -> dict[str, Application]:
    """All applications by name: the shipped ones, and those of a user's catalogue folder `extra`.

    `extra` has the layout of the shipped catalogue (`applications/<name>.yaml`, `assets/`, and optionally
    `resource_categories.yaml` with further categories) and is validated in the same way.

    Raises:
        CatalogEntryInvalidError: an entry is wrong, or a user's entry has the name of another; the message
            lists every mistake of the file with line, field and allowed values.
        UnknownCatalogEntryError: `extra` is not a folder.
    """
    return dict(_applications(extra.resolve() if extra else None))


def read_anew() -> None:
    """Read the catalogues again on next use, because a user's file was written."""
    _applications.cache_clear()
    _categories.cache_clear()


def load_application(name: str, extra: Path | None = None) -> Application:
    """The application `name`; an `UnknownCatalogEntryError` if there is none; see `load_applications`."""
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
                message = f"{name!r} is already defined in {sources[name].name}; use another name"
                problems.append(Problem(("name",), message))
            if isinstance(folder, Path) and folder == extra:
                application = application.model_copy(update={"catalog_folder": str(folder)})
            problems += check_application(application, categories, groups)
            if problems:
                raise source.reject(problems)
            entries[name], sources[name] = application, source
    for name, mistakes in check_links(entries.values(), categories).items():
        raise sources[name].reject(mistakes)
    return tuple(sorted(entries.items()))


@cache
def _categories(extra: Path | None) -> tuple[ResourceCategory, ...]:
    categories: dict[str, ResourceCategory] = {}
    for folder in _folders(extra):
        if folder == extra and not (folder / "resource_categories.yaml").is_file():
            continue
        source, records = _records(folder, "resource_categories.yaml", ResourceCategory)
        for index, category in enumerate(records):
            if category.name in categories:
                raise source.reject([Problem((index, "name"), f"{category.name!r} is already defined")])
            categories[category.name] = category
    return tuple(categories.values())


def load_resource_categories(extra: Path | None = None) -> dict[str, ResourceCategory]:
    """All resource categories by name, including those of a user's catalogue folder; errors as in
    `load_applications`, and if one is defined twice."""
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
    """The ten capabilities with the levels that they require, as printed and repaired (Table 12)."""
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
    """Cached: reading takes most of the loading time, and every user's catalogue needs these entries."""
    return _read_folder(catalog_folder() / "applications")


def _read(item: Traversable, name: str) -> YamlFile:
    is_user_file = isinstance(item, Path) and catalog_folder() not in item.parents
    return read_file(item, str(item) if is_user_file else name)


_CLICKS: dict[str, dict[object, object]] = {
    "click": {},
    "double_click": {"double": True},
    "right_click": {"button": "right"},
}


def expand_application(content: object) -> object:
    """The entry with every short notation expanded; validation reports whatever is not recognised."""
    if not isinstance(content, dict) or not isinstance(content.get("example_subtasks"), list):
        return content
    return {**content, "example_subtasks": [_expand_subtask(item) for item in content["example_subtasks"]]}


def _expand_subtask(content: object) -> object:
    if not isinstance(content, dict):
        return content
    sets = content.get("parameter_sets")
    first = sets[0] if isinstance(sets, list) and sets and isinstance(sets[0], dict) else {}
    expanded: dict[object, object] = dict(content)
    for direction in ("inputs", "outputs"):
        if isinstance(content.get(direction), list):
            expanded[direction] = [expand_resource(item, first) for item in content[direction]]
    for example in ("worked_example", "second_example"):
        if isinstance(content.get(example), list):
            expanded[example] = [expand_step(item) for item in content[example]]
    return expanded


def expand_resource(content: object, parameters: Mapping[str, object]) -> object:
    """The full form of a declared resource.

    >>> expand_resource("csv_path", {"csv_path": "a.csv"})
    {'category': 'csv_path', 'parameter': 'csv_path'}
    >>> expand_resource("text_in_clipboard", {})
    {'category': 'text_in_clipboard'}
    """
    declaration = {"category": content} if isinstance(content, str) else content
    if not isinstance(declaration, dict):
        return content
    if "parameter" not in declaration and declaration.get("category") in parameters:
        return {**declaration, "parameter": declaration["category"]}
    return declaration


def expand_step(content: object) -> object:
    """The full form of a worked step.

    >>> expand_step({"type": "^a{name}", "into": "File name"})
    {'operation': 'keyboard_input', 'keys': '^a{name}', 'control': {'text': 'File name'}}
    """
    if not isinstance(content, dict):
        return content
    rest = dict(content)
    expanded: dict[object, object] = {}
    for notation, fields in _CLICKS.items():
        if notation in rest:
            expanded |= {"operation": "click_input", "control": _control(rest.pop(notation)), **fields}
    if "type" in rest:
        expanded |= {"operation": "keyboard_input", "keys": rest.pop("type")}
        if "into" in rest:
            expanded["control"] = _control(rest.pop("into"))
    if "wheel" in rest:
        expanded |= {"operation": "wheel_mouse_input", "wheel_distance": rest.pop("wheel")}
        if "over" in rest:
            expanded["control"] = _control(rest.pop("over"))
    if "drag" in rest:
        expanded |= {"operation": "drag_input", "control": _control(rest.pop("drag"))}
    if "wait" in rest:
        expanded |= {"operation": "wait", "seconds": rest.pop("wait")}
    expanded |= rest
    if "control" in rest:
        expanded["control"] = _control(rest["control"])
    return expanded


def _control(content: object) -> object:
    return {"text": content} if isinstance(content, str) else content
