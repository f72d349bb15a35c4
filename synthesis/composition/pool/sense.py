"""Subtasks that nobody would ask for together, although one makes what the other reads."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import PurePosixPath
from typing import Self

from taskloom.resources.applications import Application, ExampleSubtask
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.reading.translation import applications_in, world_records, worlds_of
from taskloom.resources.reading.worlds import load_world
from taskloom.resources.worlds import FIRST_WORLD, World
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, instance_id, stem_of


@dataclass(frozen=True, slots=True)
class Sense:
    """Knowledge about subtasks beyond their resources, such as free names and useless products."""

    fresh: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By subtask: parameters that may take any new value."""
    useless_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By subtask: applications and subtasks that have no use for its products."""
    means: frozenset[str] = frozenset()
    """Subtasks whose files and records are only a means."""
    gatherers: frozenset[str] = frozenset()
    """Subtasks that make a place for several things, which nobody makes for a single one."""
    not_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By subtask: others that nobody asks for together with it."""
    subjects: Mapping[str, str] = field(default_factory=dict)
    """By instance of the catalogue: its subject; empty if none is given."""
    subjects_by_file: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """By subtask and world: the subjects of its instances, by the names of their files."""
    unrestricted: frozenset[str] = frozenset()
    """Subtasks that suit every subject according to the catalogue."""
    formats: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By resource category: others with the same content, since subtasks convert each to the other."""
    clashes: frozenset[tuple[str, str]] = frozenset()
    """Pairs of subtasks in which the second was seen to fail after the first."""
    worlds: Mapping[str, World] = field(default_factory=dict)
    """By name: worlds, with the occasions of their things."""

    @classmethod
    def of(cls, subtasks: Sequence[Subtask], applications: Mapping[str, Application]) -> Self:
        """Collect what `subtasks` and the curated subtasks of `applications` say."""
        versions = {item.subtask_id: stem_of(item.subtask_id) for item in subtasks}
        curated = _curated(applications)
        curated |= {name: curated[stem] for name, stem in versions.items() if stem in curated}
        subject_sets = _subjects(versions, applications)
        return cls(
            fresh={subtask.subtask_id: subtask.fresh for subtask in subtasks},
            useless_for={name: example.useless_for for name, example in curated.items()},
            means=frozenset(name for name, example in curated.items() if example.means),
            gatherers=frozenset(name for name, example in curated.items() if example.gathers),
            not_with={name: example.not_with for name, example in curated.items() if example.not_with},
            subjects={
                instance_id(subtask_id, parameters, world): subject
                for (subtask_id, world), sets in subject_sets.items()
                for parameters, subject in sets
            },
            subjects_by_file={
                key: {name: subject for parameters, subject in sets for name in _file_names(parameters)}
                for key, sets in subject_sets.items()
            },
            unrestricted=frozenset(
                name for name, example in curated.items() if example.subjects and not any(example.subjects)
            ),
            formats=_formats(curated.values()),
            worlds={world.name: world for world in world_records(applications) or (load_world(FIRST_WORLD),)},
        )

    def occasions(self, node: BoundSubtask) -> tuple[str, ...] | None:
        """The occasions that suit all inputs and outputs of an instance; None if every occasion does."""
        world = self.worlds.get(node.world)
        values = dict.fromkeys(item.value for item in (*node.inputs, *node.outputs) if item.value)
        return None if world is None else world.common_occasions(values)

    def subject_of(self, node: BoundSubtask) -> str:
        """The subject of an instance. One that reads another's product has the subject of the curated
        instance with a file of the same name, otherwise a subject of its own."""
        subject = self.subjects.get(node.instance_id)
        names = self.subjects_by_file.get((node.subtask_id, node.world))
        if subject is not None or names is None:
            return subject or ""
        return next((names[name] for name in _file_names(node.parameters) if name in names), node.instance_id)

    def accepts_other_inputs(self, subtask: Subtask) -> bool:
        """Whether a subtask can take products of others instead of the inputs of its examples.

        It cannot if it puts them into a place and the catalogue gives the subject of each example: other
        things do not belong there. Nor can it if a parameter is not a resource but, for example, a row
        or a comment written for the example's file. The catalogue can exempt a subtask.
        """
        if subtask.subtask_id in self.unrestricted:
            return True
        if _has_own_values(subtask, subtask.available_parameters):
            return False
        return len(subtask.inputs) == 1 or all(
            name != subtask.subtask_id for name, _ in self.subjects_by_file
        )

    def is_lost_work(self, producer: BoundSubtask, consumer: BoundSubtask) -> bool:
        """Whether `consumer` reads what `producer` makes and makes it pointless.

        A new product is not deleted, not moved or renamed if its name was free to choose, and not turned back
        into what it was or was made from. A converted file is not converted again. A file that an application
        saved under a free name is not extended there under another name. Nothing is used where it is useless,
        where the subject differs, or where this was seen to fail.
        """
        if (producer.subtask_id, consumer.subtask_id) in self.clashes:
            return True
        producer_subject, consumer_subject = self.subject_of(producer), self.subject_of(consumer)
        if producer_subject and consumer_subject and producer_subject != consumer_subject:
            return True
        useless_for = self.useless_for.get(producer.subtask_id, ())
        if consumer.application in useless_for or stem_of(consumer.subtask_id) in useless_for:
            return True
        if _turns_back(producer, consumer) or (converts(producer) and converts(consumer)):
            return True
        free_names = {producer.parameters.get(name) for name in self.fresh.get(producer.subtask_id, ())}
        if producer.application == consumer.application and self._saved_again(producer, consumer, free_names):
            return True
        consumed = set(producer.outputs) & set(consumer.consumed)
        if not consumed:
            return False
        if not consumer.outputs or set(consumer.outputs) & set(producer.consumed):
            return True
        renamed = {item for item in consumed if item.kind is ResourceKind.FILE or len(consumer.inputs) == 1}
        return any(item.value in free_names for item in renamed)

    def _saved_again(
        self, producer: BoundSubtask, consumer: BoundSubtask, free_names: Set[str | None]
    ) -> bool:
        """Whether a file with a free name becomes another of its category or one with the same content, and
        nothing is pasted into it."""
        if any(item.is_transient for item in consumer.inputs):
            return False
        made = {item.category for item in consumer.outputs if item.kind is ResourceKind.FILE}
        read = set(producer.outputs) & set(consumer.inputs)
        return any(
            item.value in free_names and made & {item.category, *self.formats.get(item.category, ())}
            for item in read
        )


def _curated(applications: Mapping[str, Application]) -> dict[str, ExampleSubtask]:
    return {
        f"{name}.{example.name}": example
        for name, application in applications.items()
        for example in application.example_subtasks
    }


def _subjects(
    versions: Mapping[str, str], applications: Mapping[str, Application]
) -> dict[tuple[str, str], list[tuple[dict[str, str], str]]]:
    """The parameter sets of the catalogue with their subjects, by subtask and world; also for the `versions`
    of curated subtasks."""
    subject_sets = {
        (name, world): list(zip(example.parameter_sets, chain(example.subjects, repeat("")), strict=False))
        for world in worlds_of(applications)
        for name, example in _curated(applications_in(applications, world)).items()
        if any(example.subjects)
    }
    return subject_sets | {
        (name, world): sets
        for name, stem in versions.items()
        for (known, world), sets in subject_sets.items()
        if known == stem
    }


def _formats(examples: Iterable[ExampleSubtask]) -> dict[str, frozenset[str]]:
    """The resource categories that examples convert into each other without adding anything."""
    conversions = {
        (read.category, made.category)
        for example in examples
        if not _has_own_values(example, example.parameter_sets)
        for read in example.inputs
        for made in example.outputs
    }
    return {
        source: frozenset(
            target for read, target in conversions if read == source and (target, source) in conversions
        )
        for source, _ in conversions
    }


def _turns_back(producer: BoundSubtask, consumer: BoundSubtask) -> bool:
    """Whether a subtask turns a product back into the form that its `producer` read, neither adding values:
    it unpacks what was packed, saves as plain text what was pasted from plain text, or copies what was only
    pasted."""
    if own_values(producer) or own_values(consumer):
        return False
    made = _forms(set(producer.outputs) & set(consumer.inputs), copied=False)
    earlier = _forms(producer.inputs, copied=len(producer.inputs) == 1) - made
    return bool(made and earlier & _forms(consumer.outputs, copied=True) - made)


def _forms(items: Iterable[Resource], *, copied: bool) -> set[tuple[str, str]]:
    """The categories of resources with the suffixes of their names; with or without copies."""
    return {
        (item.category, "" if item.is_transient else PurePosixPath(item.value).suffix)
        for item in items
        if item.slot is None or (copied and item.is_transient)
    }


def converts(node: BoundSubtask) -> bool:
    """Whether a subtask only converts a file, or the clipboard, to a file of another format."""
    made = [item for item in node.outputs if item.slot is None]
    if own_values(node) or len(node.inputs) != 1 or [item.kind for item in made] != [ResourceKind.FILE]:
        return False
    (read,) = node.inputs
    return read.is_transient or (
        read.kind is ResourceKind.FILE
        and PurePosixPath(read.value).suffix != PurePosixPath(made[0].value).suffix
    )


def combines_files(node: BoundSubtask) -> bool:
    """Whether a subtask only combines several files into one, such as an archive."""
    resources = [*node.inputs, *node.outputs]
    made = [item for item in node.outputs if item.slot is None]
    only_files = all(item.kind is ResourceKind.FILE and item.slot is None for item in resources)
    return only_files and len(node.inputs) > 1 == len(made) and not node.consumed and not own_values(node)


def own_values(node: BoundSubtask) -> set[str]:
    """The parameter values of a subtask that are not resources, such as text."""
    return set(node.parameters.values()) - {item.value for item in (*node.inputs, *node.outputs)}


def _file_names(parameters: Mapping[str, str]) -> list[str]:
    return [path.name for value in parameters.values() if (path := PurePosixPath(value)).suffix]


def _has_own_values(subtask: Subtask | ExampleSubtask, parameter_sets: Iterable[Mapping[str, str]]) -> bool:
    resources = {item.parameter for item in (*subtask.inputs, *subtask.outputs)}
    return any(not resources.issuperset(values) for values in parameter_sets)
