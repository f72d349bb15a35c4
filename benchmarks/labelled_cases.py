"""Labelled outcomes of real work: what people would call right or wrong, and the actions that bring it about.

A file `benchmarks/labelled_work_cases/<application>.yaml` names curated subtasks with one parameter set each,
and for each of them cases. A case is a list of steps written as in the catalogue's worked examples, and
beside those

- `worked: true`, the subtask's worked example; `worked: {amount: 9.00 USD}`, the same with other values; with
  the keys `subtask`, `first` and `last` beside the values, that of another subtask, or only its steps from
  `first` to `last` (counted from 0, both included)
- `front: tiddlywiki`, a click on the task bar for an application that is also open
- `write`, `delete`, `copy` and `move`, what a person would do in a file manager or a terminal

A case says under `shows` what must be seen afterwards for the case to count as performed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from benchmarks.labelled_outcome import Shown
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

another route  other controls or keys; detour  with a look around, a corrected slip or help from elsewhere,
               but the same end;
seen again  the state after the page was loaded anew.
"""
RIGHT_KINDS: frozenset[Kind] = frozenset({"another route", "detour", "seen again"})


class FileDeed(Record):
    """What a person does with files outside the applications; one of the four."""

    write: str = ""
    """Path of a file to write."""
    text: str = ""
    """What is written."""
    delete: str = ""
    """Glob pattern of files and folders to delete."""
    copy_from: str = Field(default="", alias="copy")
    """Path of a file to copy to `to`."""
    move: str = ""
    """Path of a file to move to `to`."""
    to: str = ""
    """Where it is copied or moved to."""

    @model_validator(mode="after")
    def _one_deed(self) -> FileDeed:
        if sum(map(bool, (self.write, self.delete, self.copy_from, self.move))) != 1:
            raise ValueError("must have exactly one of write, delete, copy and move")
        if bool(self.to) != bool(self.copy_from or self.move):
            raise ValueError("'to' belongs to copy and move")
        return self

    def filled(self, parameters: Mapping[str, str]) -> FileDeed:
        """The deed with values for its placeholders, except in the text."""
        names = {"write", "delete", "copy_from", "move", "to"}
        return self.model_copy(update={name: fill(getattr(self, name), parameters) for name in names})


@dataclass(frozen=True, slots=True)
class ToFront:
    """A change to another application on the task bar."""

    application: str


Deed = WorkedStep | FileDeed | ToFront
"""Anything that a case does; worked steps have their values filled in."""


class LabelledCase(Record):
    """One outcome with its label."""

    name: str
    """What was done, in a few words; unique in the subtask."""
    verdict: Verdict
    """What a person would say."""
    kind: Kind
    """Kind of outcome."""
    why: str
    """One sentence with the person's reason."""
    steps: tuple[dict[str, object], ...] = ()
    """What is done."""
    shows: tuple[Shown, ...] = Field(min_length=1)
    """What proves that it was done."""

    @model_validator(mode="after")
    def _kind_fits(self) -> LabelledCase:
        if (self.kind in RIGHT_KINDS) != (self.verdict == "right"):
            raise ValueError(f"the kind {self.kind!r} does not go with the verdict {self.verdict!r}")
        return self


class LabelledSubtask(Record):
    """A curated subtask with one parameter set and its cases."""

    subtask: str
    """Name within the application."""
    parameters: dict[str, str]
    """Values for the instruction."""
    before: tuple[dict[str, object], ...] = ()
    """What is done before the subtask begins, because it makes what the subtask reads; no part of the
    evidence."""
    also_open: tuple[str, ...] = ()
    """Further applications that are open."""
    cases: tuple[LabelledCase, ...] = Field(min_length=4)
    """At least three wrong outcomes and a right one."""

    @model_validator(mode="after")
    def _enough(self) -> LabelledSubtask:
        wrong = sum(case.verdict == "wrong" for case in self.cases)
        if wrong < 3 or wrong == len(self.cases):
            raise ValueError("needs at least three wrong cases and one right case")
        if len({case.name for case in self.cases}) < len(self.cases):
            raise ValueError("names of cases must differ")
        return self


class LabelledApplication(Record):
    """One file."""

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
        """Id of the subtask."""
        return f"{self.application.name}.{self.example.name}"

    @property
    def case_id(self) -> str:
        """Subtask and name."""
        return f"{self.subtask_id}: {self.label.name}"

    @property
    def deeds(self) -> tuple[Deed, ...]:
        """What is done, with values filled in."""
        return tuple(_expand(self.label.steps, self))

    @property
    def deeds_before(self) -> tuple[Deed, ...]:
        """What is done before the subtask begins."""
        return tuple(_expand(self.labelled.before, self))


def load_cases(folder: Path = CASES) -> list[Case]:
    """All cases, application by application.

    Raises:
        CatalogEntryInvalidError: a file breaks the schema.
        ValueError: a case names what the catalogue does not have.
    """
    return [case for file in sorted(folder.glob("*.yaml")) for case in read_cases(file)]


def read_cases(file: Path) -> list[Case]:
    """The cases of one file; see `load_cases`."""
    source: YamlFile = read_yaml(file.read_text(encoding="utf-8"), file.name)
    entry = parse_entry(source, source.content, LabelledApplication)
    if entry.application != file.stem:
        raise ValueError(f"{file.name} is about {entry.application!r}; it must have its name.")
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
        _ = case.deeds, case.deeds_before
    return cases


def _expand(steps: Sequence[Mapping[str, object]], case: Case) -> Iterator[Deed]:
    for step in steps:
        if "worked" in step:
            yield from _worked(step["worked"], case)
        elif "front" in step:
            yield ToFront(str(step["front"]))
        elif set(step) & {"write", "delete", "copy", "move"}:
            yield FileDeed.model_validate(step).filled(case.labelled.parameters)
        else:
            yield fill_step(WorkedStep.model_validate(expand_step(dict(step))), case.labelled.parameters)


def _worked(given: object, case: Case) -> Iterable[WorkedStep]:
    values = {str(key): value for key, value in given.items()} if isinstance(given, dict) else {}
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
