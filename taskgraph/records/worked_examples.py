"""Worked examples with parameter values filled in."""

from collections.abc import Mapping

from taskloom.resources.applications import ControlQuery, WorkedStep
from taskloom.resources.path_parts import with_path_parts
from taskloom.taskgraph.records.interaction import escape_keys
from taskloom.taskgraph.records.subtask import fill


def fill_step(step: WorkedStep, parameters: Mapping[str, str]) -> WorkedStep:
    """The step with values for its placeholders: as they are in control texts, escaped in keys.

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
    """The control to look for with values for the placeholders in whatever text tells it.

    >>> fill_query(ControlQuery(text="Edit", row="{person}"), {"person": "Ada"}).row
    'Ada'

    Raises:
        ParameterInvalidError: a placeholder has no value.
    """
    named = {name: getattr(query, name) for name in ("text", "parent_text", "row", "section")}
    return query.model_copy(update={name: fill(text, values) for name, text in named.items() if text})
