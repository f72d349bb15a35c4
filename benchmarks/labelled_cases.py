"""Labelled outcomes of real work: what people would call right or wrong, and the actions that lead to it.

A file `benchmarks/labelled_work_cases/<application>.yaml` names curated subtasks with one parameter set each,
and cases for each of them. A case is a list of steps in the notation of the catalogue's worked examples, and
also

- `worked: true`, the subtask's worked example; `worked: {amount: 9.00 USD}`, the same with other values; with
  the additional keys `subtask`, `first` and `last`, that of another subtask, or only its steps from `first`
  to `last` (counted from 0, inclusive)
- `front: tiddlywiki`, a click on the task bar for another open application
- `write`, `delete`, `copy` and `move`, what a person would do in a file manager or a terminal

`shows` says what must be visible afterwards for the case to count as performed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from benchmarks.labelled_outcome import ExpectedState
from taskloom.resources.applications import Application, ExampleSubtask, WorkedStep
from taskloom.resources.reading.catalog import expand_step, load_applications
from taskloom.resources.reading.yaml_reading import YamlFile, parse_entry, read_yaml
from taskloom.resources.record import Record
from taskloom.taskgraph.records.subtask import fill, fill_step

CASES = Path(__file__).parent / "labelled_work_cases"
Verdict = Literal["right", "wrong"]
Kind = Literal[
    "nothing done",
    "half done",
    "not saved",
    "wrong content",
    "empty content",
    "other record",
    "other parameters",
    "other place",
    "other content pasted",
    "neighbouring control",
    "too much done",
    "done and undone",
    "something else destroyed",
    "old content lost",
    "only looks right",
    "another route",
    "detour",
    "seen again",
]
"""Kinds of outcomes; the last three are right work.

another route  other controls or keys; detour  with a look around, a corrected slip or help from another
               application, but the same result;
seen again  the state after the page was reloaded.
"""
RIGHT_KINDS: frozenset[Kind] = frozenset({"another route", "detour", "seen again"})


class FileOperation(Record):
    """One of four things that a person does with files outside the applications."""

    write: str = ""
    """Path of a file to write."""
    text: str = ""
    """Text to write."""
    delete: str = ""
    """Glob pattern of files and folders to delete."""
    copy_from: str = Field(default="", alias="copy")
    """Path of a file to copy to `to`."""
    move: str = ""
    """Path of a file to move to `to`."""
    to: str = ""
    """Target of the copy or move."""

    @model_validator(mode="after")
    def _require_one_operation(self) -> FileOperation:
        if sum(map(bool, (self.write, self.delete, self.copy_from, self.move))) != 1:
            raise ValueError("must have exactly one of write, delete, copy and move")
        if bool(self.to) != bool(self.copy_from or self.move):
            raise ValueError("'to' belongs to copy and move")
        return self

    def filled(self, parameters: Mapping[str, str]) -> FileOperation:
        """The operation with its placeholders filled, except in the text."""
        names = {"write", "delete", "copy_from", "move", "to"}
        return self.model_copy(update={name: fill(getattr(self, name), parameters) for name in names})


@dataclass(frozen=True, slots=True)
class BringToFront:
    """A switch to another application on the task bar."""

    application: str


Operation = WorkedStep | FileOperation | BringToFront
"""One operation of a case; worked steps have their values filled in."""


class LabelledCase(Record):
    """One outcome with its label."""

    name: str
    """What was done, in a few words; unique in the subtask."""
    verdict: Verdict
    """A person's verdict."""
    kind: Kind
    """Kind of outcome."""
    why: str
    """One sentence with the person's reason."""
    steps: tuple[dict[str, object], ...] = ()
    """The steps."""
    shows: tuple[ExpectedState, ...] = Field(min_length=1)
    """States that prove that it was done."""

    @model_validator(mode="after")
    def _check_kind(self) -> LabelledCase:
        if (self.kind in RIGHT_KINDS) != (self.verdict == "right"):
            raise ValueError(f"the kind {self.kind!r} does not fit the verdict {self.verdict!r}")
        return self


class LabelledSubtask(Record):
    """A curated subtask with one parameter set and its cases."""

    subtask: str
    """Name within the application."""
    parameters: dict[str, str]
    """Values for the instruction."""
    before: tuple[dict[str, object], ...] = ()
    """Steps before the subtask, which make what it reads; not part of the evidence."""
    also_open: tuple[str, ...] = ()
    """Further open applications."""
    cases: tuple[LabelledCase, ...] = Field(min_length=4)
    """At least three wrong outcomes and a right one."""

    @model_validator(mode="after")
    def _check_cases(self) -> LabelledSubtask:
        wrong = sum(case.verdict == "wrong" for case in self.cases)
        if wrong < 3 or wrong == len(self.cases):
            raise ValueError("needs at least three wrong cases and one right case")
        if len({case.name for case in self.cases}) < len(self.cases):
            raise ValueError("names of cases must differ")
        return self


class LabelledApplication(Record):
    """The content of one file."""

    application: str
    """Name in the catalogue."""
    subtasks: tuple[LabelledSubtask, ...]
    """Its labelled subtasks."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case ready to be performed."""

    application: Application
    example: ExampleSubtask
    labelled: LabelledSubtask
    label: LabelledCase

    @property
    def subtask_id(self) -> str:
        return f"{self.application.name}.{self.example.name}"

    @property
    def case_id(self) -> str:
        """Subtask and name."""
        return f"{self.subtask_id}: {self.label.name}"

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the case, with values filled in."""
        return tuple(_expand(self.label.steps, self))

    @property
    def setup_operations(self) -> tuple[Operation, ...]:
        """The operations before the subtask, with values filled in."""
        return tuple(_expand(self.labelled.before, self))


def load_cases(folder: Path = CASES) -> list[Case]:
    """All cases, application by application.

    Raises:
        CatalogEntryInvalidError: a file violates the schema.
        ValueError: a case names something that is not in the catalogue.
    """
    return [case for file in sorted(folder.glob("*.yaml")) for case in read_cases(file)]


def read_cases(file: Path) -> list[Case]:
    """The cases of one file; see `load_cases`."""
    source: YamlFile = read_yaml(file.read_text(encoding="utf-8"), file.name)
    entry = parse_entry(source, source.content, LabelledApplication)
    if entry.application != file.stem:
        raise ValueError(f"{file.name} is about {entry.application!r}; the file must have that name.")
    application = _applications()[entry.application]
    cases = []
    for labelled in entry.subtasks:
        example = _example(application, labelled.subtask)
        if set(labelled.parameters) != set(example.parameter_sets[0]):
            raise ValueError(
                f"{file.name}: {labelled.subtask} has the parameters {sorted(labelled.parameters)}; the"
                f" catalogue's are {sorted(example.parameter_sets[0])}."
            )
        cases += [Case(application, example, labelled, label) for label in labelled.cases]
    for case in cases:
        _ = case.operations, case.setup_operations
    return cases


def _expand(steps: Sequence[Mapping[str, object]], case: Case) -> Iterator[Operation]:
    for step in steps:
        if "worked" in step:
            yield from _expand_worked_example(step["worked"], case)
        elif "front" in step:
            yield BringToFront(str(step["front"]))
        elif set(step) & {"write", "delete", "copy", "move"}:
            yield FileOperation.model_validate(step).filled(case.labelled.parameters)
        else:
            yield fill_step(WorkedStep.model_validate(expand_step(dict(step))), case.labelled.parameters)


def _expand_worked_example(options: object, case: Case) -> Iterable[WorkedStep]:
    values = {str(key): value for key, value in options.items()} if isinstance(options, dict) else {}
    first, last = int(str(values.pop("first", 0))), int(str(values.pop("last", 10_000)))
    application, example = case.application, case.example
    parameters = dict(case.labelled.parameters)
    other = str(values.pop("subtask", ""))
    if other:
        name, _, rest = other.rpartition(".")
        application = _applications()[name] if name else application
        example = _example(application, rest)
        parameters = {**example.parameter_sets[0], **parameters}
    unknown = set(values) - set(example.parameter_sets[0])
    if unknown:
        raise ValueError(f"{case.case_id}: {example.name} has no parameter {sorted(unknown)[0]!r}.")
    parameters |= {key: str(value) for key, value in values.items()}
    steps = list(enumerate(example.worked_example))
    return [fill_step(step, parameters) for number, step in steps if first <= number <= last]


def _example(application: Application, name: str) -> ExampleSubtask:
    for example in application.example_subtasks:
        if example.name == name:
            return example
    raise ValueError(f"{application.name} has no curated subtask {name!r}.")


@cache
def _applications() -> dict[str, Application]:
    return load_applications()
