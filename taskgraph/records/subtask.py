"""Subtasks: templates with input and output resources, and their bound instances (App. B.3, C.1)."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal, Self

from pydantic import Field

from taskloom.resources.applications import (
    PATH_PARTS,
    Application,
    ControlQuery,
    ResourceDeclaration,
    SubtaskTemplate,
    WorkedStep,
)
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.instances import Resource, bind_resource
from taskloom.resources.record import Record
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.interaction import escape_keys
from taskloom.taskgraph.records.provenance import Provenance

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_NO_PROVENANCE = Provenance()


def placeholders(template: str) -> list[str]:
    """The distinct parameter names in `template`, in order.

    >>> placeholders("Copy '{csv_path}' to '{folder}' and open '{csv_path}'. Press {ENTER}.")
    ['csv_path', 'folder']
    """
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def fill(template: str, parameters: Mapping[str, str]) -> str:
    """Put parameter values into a template; the values themselves are never treated as templates.

    >>> fill("Open '{path}'.", {"path": "a {path}.csv"})
    "Open 'a {path}.csv'."

    Raises:
        ParameterInvalidError: a placeholder has no value.
    """

    def value(match: re.Match[str]) -> str:
        try:
            return parameters[match.group(1)]
        except KeyError:
            raise ParameterInvalidError(
                f"The template {template!r} needs the parameter {match.group(1)!r}; given:"
                f" {sorted(parameters)}."
            ) from None

    return _PLACEHOLDER.sub(value, template)


class BoundSubtask(Record):
    """A subtask with one parameter set: a possible node of a task graph."""

    instance_id: str
    """Opaque id, equal for equal subtasks and parameters."""
    subtask_id: str
    """The subtask."""
    application: str
    """Its application."""
    application_category: str
    """Category of the application (knowledge complexity counts these)."""
    world: str = ""
    """World whose data it works on, such as `bakery-1`; empty for the first."""
    instruction: str
    """Instantiated instruction."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """The parameter set."""
    inputs: tuple[Resource, ...] = ()
    """Resources read."""
    outputs: tuple[Resource, ...] = ()
    """Resources written."""
    consumed: tuple[Resource, ...] = ()
    """Inputs that it destroys."""


class Subtask(Record):
    """A smaller, independent task in one application, with parameters (App. C.1)."""

    subtask_id: str
    """Opaque id."""
    application: str
    """Its application."""
    application_category: str
    """Category of the application."""
    operating_system: str = "Linux"
    """Operating system of the environment."""
    platform: str = "web_browser"
    """Environment platform."""
    instruction_template: str
    """Instruction with `{parameter}` placeholders."""
    available_parameters: tuple[dict[str, str], ...] = ()
    """Parameter sets that instantiate it."""
    inputs: tuple[ResourceDeclaration, ...] = ()
    """Resources read."""
    outputs: tuple[ResourceDeclaration, ...] = ()
    """Resources written."""
    fresh: tuple[str, ...] = ()
    """Parameters whose values may be any new name (*free*); all others need a fixture or a producer."""
    worked_example: tuple[WorkedStep, ...] = ()
    """A worked example, if one is known."""
    second_example: tuple[WorkedStep, ...] = ()
    """A worked example of another way; empty if only one way is known."""
    origin: Literal["curated", "proposed", "imported"] = "proposed"
    """Where it comes from."""
    simulated: bool = False
    """Whether its platform only simulates applications."""
    provenance: Provenance = Provenance()
    """Where it comes from, in detail."""

    @classmethod
    def of(
        cls,
        template: SubtaskTemplate,
        application: Application,
        *,
        origin: Literal["curated", "proposed", "imported"],
        worked_example: tuple[WorkedStep, ...] = (),
        second_example: tuple[WorkedStep, ...] = (),
        provenance: Provenance = _NO_PROVENANCE,
    ) -> Self:
        """The subtask of `application` that `template` describes."""
        return cls(
            subtask_id=f"{application.name}.{template.name}",
            application=application.name,
            application_category=application.category,
            platform=application.platform,
            instruction_template=template.instruction_template,
            available_parameters=template.parameter_sets,
            inputs=template.inputs,
            outputs=template.outputs,
            fresh=template.fresh,
            worked_example=worked_example,
            second_example=second_example,
            origin=origin,
            simulated=application.simulated,
            provenance=provenance,
        )

    @property
    def template(self) -> SubtaskTemplate:
        """Its template, under its name within the application."""
        return SubtaskTemplate(
            name=self.subtask_id.removeprefix(f"{self.application}."),
            instruction_template=self.instruction_template,
            parameter_sets=self.available_parameters,
            inputs=self.inputs,
            outputs=self.outputs,
            fresh=self.fresh,
        )

    def bind(
        self, parameters: Mapping[str, str], categories: Mapping[str, ResourceCategory], world: str = ""
    ) -> BoundSubtask:
        """The instance of this subtask with `parameters`, which are values of `world`.

        Raises:
            ParameterInvalidError: a placeholder or a declared resource has no value.
            UnknownCatalogEntryError: a declared resource category does not exist.
        """
        inputs = tuple(self._resource(item, parameters, categories) for item in self.inputs)
        return BoundSubtask(
            instance_id=instance_id(self.subtask_id, parameters, world),
            subtask_id=self.subtask_id,
            application=self.application,
            application_category=self.application_category,
            world=world,
            instruction=fill(self.instruction_template, parameters),
            parameters=dict(parameters),
            inputs=inputs,
            outputs=tuple(self._resource(item, parameters, categories) for item in self.outputs),
            consumed=tuple(
                resource for resource, item in zip(inputs, self.inputs, strict=True) if item.consumed
            ),
        )

    def _resource(
        self,
        declaration: ResourceDeclaration,
        parameters: Mapping[str, str],
        categories: Mapping[str, ResourceCategory],
    ) -> Resource:
        category = categories.get(declaration.category)
        if category is None:
            raise UnknownCatalogEntryError("resource category", declaration.category, categories)
        if not declaration.parameter:
            if not category.is_slot:
                raise ParameterInvalidError(
                    f"Subtask {self.subtask_id!r} declares {declaration.category!r} ({category.kind.value})"
                    " without the parameter that gives its value."
                )
            return bind_resource(category, self.application, "")
        if declaration.parameter not in parameters:
            raise ParameterInvalidError(
                f"Subtask {self.subtask_id!r} needs the parameter {declaration.parameter!r}; given:"
                f" {sorted(parameters)}."
            )
        return bind_resource(category, self.application, parameters[declaration.parameter])


def stem_of(subtask_id: str) -> str:
    """A subtask's name in the catalogue: its id without the version suffix.

    >>> stem_of("notes.create_v2"), stem_of("notes.create")
    ('notes.create', 'notes.create')
    """
    return re.sub(r"_v\d+$", "", subtask_id)


def instance_id(subtask_id: str, parameters: Mapping[str, str], world: str = "") -> str:
    """The id of a subtask bound to `parameters` in a world: equal for equal content, in any order.

    >>> instance_id("notes.create", {"b": "2", "a": "1"}) == instance_id("notes.create", {"a": "1", "b": "2"})
    True
    """
    content = json.dumps(dict(parameters), sort_keys=True, ensure_ascii=False)
    content = f"{world}:{content}" if world else content
    return f"{subtask_id}:{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def with_path_parts(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters, plus the name, stem and folder of each value read as a path.

    A part never replaces a parameter of the same name.

    >>> with_path_parts({"csv_path": "Documents/sales.csv"})
    {'csv_path_name': 'sales.csv', 'csv_path_stem': 'sales', 'csv_path_folder': 'Documents', 'csv_path': 'Documents/sales.csv'}
    """  # noqa: E501
    parts: dict[str, str] = {}
    for name, value in parameters.items():
        path = PurePosixPath(value)
        folder = "" if str(path.parent) == "." else str(path.parent)
        parts |= {
            name + part: text for part, text in zip(PATH_PARTS, (path.name, path.stem, folder), strict=True)
        }
    return {**parts, **parameters}


def fill_step(step: WorkedStep, parameters: Mapping[str, str]) -> WorkedStep:
    """The step with its placeholders filled: verbatim in control texts, escaped in keys.

    Besides the parameters themselves, `{x_name}`, `{x_stem}` and `{x_folder}` stand for parts of the path
    `{x}`.

    >>> step = WorkedStep(operation="keyboard_input", keys="^a{csv_path_name}{ENTER}")
    >>> fill_step(step, {"csv_path": "Documents/a+b.csv"}).keys
    '^aa{+}b.csv{ENTER}'

    Raises:
        ParameterInvalidError: a placeholder has no value.
    """
    values = with_path_parts(parameters)
    keys = fill(step.keys, {name: escape_keys(value) for name, value in values.items()})
    control = None if step.control is None else fill_query(step.control, values)
    return step.model_copy(update={"keys": keys, "control": control})


def fill_query(query: ControlQuery, values: Mapping[str, str]) -> ControlQuery:
    """The query with the placeholders in its texts filled.

    >>> fill_query(ControlQuery(text="Edit", row="{person}"), {"person": "Ada"}).row
    'Ada'

    Raises:
        ParameterInvalidError: a placeholder has no value.
    """
    texts = {name: getattr(query, name) for name in ("text", "parent_text", "row", "section")}
    return query.model_copy(update={name: fill(text, values) for name, text in texts.items() if text})
