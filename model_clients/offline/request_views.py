"""What the offline rules read of a request's typed inputs; everything else in them is left alone.

Prompts and model clients do not know each other, so this is the reader's side of that JSON.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from resources.applications import ResourceDeclaration


class View(BaseModel):
    """A part of the inputs, read from JSON; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ExampleView(View):
    """A curated subtask."""

    name: str
    instruction_template: str
    parameter_sets: tuple[dict[str, str], ...]
    inputs: tuple[ResourceDeclaration, ...] = ()
    outputs: tuple[ResourceDeclaration, ...] = ()
    fresh: tuple[str, ...] = ()


class CategoryView(View):
    """A resource category."""

    name: str
    kind: str


class NamedView(View):
    """A subtask known by its name."""

    name: str


class ExplorationView(View):
    """Input of the explorer."""

    application: str
    resource_categories: tuple[CategoryView, ...]
    examples: tuple[ExampleView, ...]
    wanted: int
    to_declare: tuple[NamedView, ...] = ()


class ControlView(View):
    """A control on the screen."""

    label: str
    control_text: str
    control_type: str
    parent_control_text: str = ""
    parent_control_type: str = ""
    value: str = ""
    disabled: bool = False
    application: str = ""


class HistoryView(View):
    """A step taken before."""

    thought: str = ""
    outcome: str = "done"


class TrajectoryView(View):
    """Input of the actor."""

    application: str
    instruction: str
    history: tuple[HistoryView, ...] = ()
    steps_left: int
    window_title: str = ""
    controls: tuple[ControlView, ...] = ()


class FileChangeView(View):
    """Changed text of a file."""

    path: str
    added_lines: tuple[str, ...] = ()
    removed_lines: tuple[str, ...] = ()


class ChangeView(View):
    """A difference between two pieces of evidence."""

    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()
    texts: tuple[FileChangeView, ...] = ()
    created_directories: tuple[str, ...] = ()
    deleted_directories: tuple[str, ...] = ()
    clipboard_text: str | None = None
    clipboard_image: bool = False
    clipboard_file: str | None = None
    clipboard_text_in: tuple[str, ...] = ()
    window_title: str | None = None
    appeared_texts: tuple[str, ...] = ()
    vanished_texts: tuple[str, ...] = ()
    clicked: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()


class StepView(View):
    """A step and what it changed."""

    step: int
    change: ChangeView


class PerformanceView(View):
    """A recorded performance."""

    parameters: dict[str, str]
    steps: tuple[StepView, ...]
    change: ChangeView


class EvaluationView(View):
    """Input of the evaluation writer."""

    application: str
    instruction_template: str
    parameter_names: tuple[str, ...]
    performances: tuple[PerformanceView, ...]
    previous_source: str = ""
    surviving_families: tuple[str, ...] = ()
    untested_checks: tuple[str, ...] = ()


class ResourceView(View):
    """A resource."""

    category: str
    value: str = ""
    kind: str = ""


class PoolView(View):
    """A verified subtask."""

    subtask_id: str
    application: str
    application_category: str
    inputs: tuple[ResourceView, ...] = ()
    outputs: tuple[ResourceView, ...] = ()


class ScenarioView(View):
    """A scenario."""

    name: str
    application_categories: tuple[str, ...] = ()


class IntentsView(View):
    """Input of the intent extractor."""

    scenarios: tuple[ScenarioView, ...]
    subtasks: tuple[PoolView, ...]
    known_goals: tuple[str, ...] = ()
    wanted: int
    smallest_group: int
    largest_group: int


class NumberedView(View):
    """A node."""

    number: int
    application: str
    instruction: str


class LinkView(View):
    """A dependency."""

    producer: int
    consumer: int
    category: str
    kind: str
    value: str = ""


class InstructionView(View):
    """Input of the summarizer."""

    goal: str
    subtasks: tuple[NumberedView, ...]
    links: tuple[LinkView, ...]


class DependenciesView(View):
    """Input of the dependency judge."""

    instruction: str
    subtasks: tuple[NumberedView, ...]
