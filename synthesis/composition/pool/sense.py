"""Which subtasks nobody would ask for together, although one makes what the other reads."""

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
    """What is known of subtasks besides their resources: which names are free, and where a product is of no
    use."""

    fresh: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By subtask: parameters that may take any new value."""
    useless_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By subtask: applications and subtasks that nobody wants to take what it makes."""
    means: frozenset[str] = frozenset()
    """Subtasks whose files and records nobody wants for themselves."""
    gatherers: frozenset[str] = frozenset()
    """Subtasks that make a place for several things, which nobody makes for one."""
    not_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By subtask: others that nobody asks for beside it."""
    subjects: Mapping[str, str] = field(default_factory=dict)
    """By instance of the catalogue: what it is about; empty where that is not said."""
    named: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """By subtask and world: what its instances are about, by the names of their files."""
    at_home_anywhere: frozenset[str] = frozenset()
    """Subtasks of which the catalogue says that they go with everything."""
    formats: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By resource category: others that hold the same thing, because subtasks turn each into the other and
    add nothing."""

    clashes: frozenset[tuple[str, str]] = frozenset()
    """Subtasks of which the second was seen not to work after the first."""
    worlds: Mapping[str, World] = field(default_factory=dict)
    """By name: what the things of a world are wanted for."""

    @classmethod
    def of(cls, subtasks: Sequence[Subtask], applications: Mapping[str, Application]) -> Self:
        """What `subtasks` and the curated subtasks of `applications` say."""
        versions = {item.subtask_id: stem_of(item.subtask_id) for item in subtasks}
        curated = _curated(applications)
        curated |= {name: curated[stem] for name, stem in versions.items() if stem in curated}
        about = _subjects(versions, applications)
        return cls(
            fresh={subtask.subtask_id: subtask.fresh for subtask in subtasks},
            useless_for={name: example.useless_for for name, example in curated.items()},
            means=frozenset(name for name, example in curated.items() if example.means),
            gatherers=frozenset(name for name, example in curated.items() if example.gathers),
            not_with={name: example.not_with for name, example in curated.items() if example.not_with},
            subjects={
                instance_id(subtask_id, parameters, world): subject
                for (subtask_id, world), sets in about.items()
                for parameters, subject in sets
            },
            named={
                key: {name: subject for parameters, subject in sets for name in _file_names(parameters)}
                for key, sets in about.items()
            },
            at_home_anywhere=frozenset(
                name for name, example in curated.items() if example.subjects and not any(example.subjects)
            ),
            formats=_formats(curated.values()),
            worlds={world.name: world for world in world_records(applications) or (load_world(FIRST_WORLD),)},
        )

    def occasions(self, node: BoundSubtask) -> tuple[str, ...] | None:
        """The occasions for which an instance can be asked for, by what it reads and makes; None where that
        goes with everything."""
        world = self.worlds.get(node.world)
        things = dict.fromkeys(item.value for item in (*node.inputs, *node.outputs) if item.value)
        return None if world is None else world.common_occasions(things)

    def about(self, node: BoundSubtask) -> str:
        """What an instance is about; one that takes what another subtask made, about what the curated one is
        whose file has the same name, else about something of its own."""
        subject = self.subjects.get(node.instance_id)
        names = self.named.get((node.subtask_id, node.world))
        if subject is not None or names is None:
            return subject or ""
        return next((names[name] for name in _file_names(node.parameters) if name in names), node.instance_id)

    def goes_with_others(self, subtask: Subtask) -> bool:
        """Whether a subtask can take what others make instead of what its examples take.

        It cannot where it puts that into a place, and the catalogue says what each of its examples is about:
        other things do not belong there. Nor where a parameter is no resource, such as a row or a comment:
        that was written for the example's file. The catalogue can say that it goes with everything.
        """
        if subtask.subtask_id in self.at_home_anywhere:
            return True
        if _has_own_values(subtask, subtask.available_parameters):
            return False
        return len(subtask.inputs) == 1 or all(name != subtask.subtask_id for name, _ in self.named)

    def is_lost_work(self, producer: BoundSubtask, consumer: BoundSubtask) -> bool:
        """Whether `consumer` makes pointless what `producer` makes and it reads.

        What was just made is not deleted, not moved or renamed where its name could have been chosen, and not
        put back to what it was or into what it was made from; what was only put into another format is not
        put into a third, and what an application saved under a name of its own is not saved there under
        another with more in it; and nothing is taken where it is of no use, where something else is the
        subject, or where that was seen not to work.
        """
        if (producer.subtask_id, consumer.subtask_id) in self.clashes:
            return True
        about, wanted = self.about(producer), self.about(consumer)
        if about and wanted and about != wanted:
            return True
        useless_for = self.useless_for.get(producer.subtask_id, ())
        if consumer.application in useless_for or stem_of(consumer.subtask_id) in useless_for:
            return True
        if turns_back([producer], consumer) or (converts(producer) and converts(consumer)):
            return True
        free = {producer.parameters.get(name) for name in self.fresh.get(producer.subtask_id, ())}
        if producer.application == consumer.application and self._saved_again(producer, consumer, free):
            return True
        taken = set(producer.outputs) & set(consumer.consumed)
        if not taken:
            return False
        if not consumer.outputs or set(consumer.outputs) & set(producer.consumed):
            return True
        named = {item for item in taken if item.kind is ResourceKind.FILE or len(consumer.inputs) == 1}
        return any(item.value in free for item in named)

    def _saved_again(self, producer: BoundSubtask, consumer: BoundSubtask, free: Set[str | None]) -> bool:
        """Whether a file of a free name becomes another file of its kind, or one that holds the same, and
        nothing is pasted into it."""
        if any(item.is_transient for item in consumer.inputs):
            return False
        made = {item.category for item in consumer.outputs if item.kind is ResourceKind.FILE}
        read = set(producer.outputs) & set(consumer.inputs)
        return any(
            item.value in free and made & {item.category, *self.formats.get(item.category, ())}
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
    """The parameter sets of the catalogue with what each is about, by subtask and world; also for the
    `versions` of curated subtasks."""
    about = {
        (name, world): list(zip(example.parameter_sets, chain(example.subjects, repeat("")), strict=False))
        for world in worlds_of(applications)
        for name, example in _curated(applications_in(applications, world)).items()
        if any(example.subjects)
    }
    return about | {
        (name, world): sets
        for name, stem in versions.items()
        for (known, world), sets in about.items()
        if known == stem
    }


def _formats(examples: Iterable[ExampleSubtask]) -> dict[str, frozenset[str]]:
    """The resource categories that examples turn into each other and add nothing."""
    turned = {
        (read.category, made.category)
        for example in examples
        if not _has_own_values(example, example.parameter_sets)
        for read in example.inputs
        for made in example.outputs
    }
    return {
        one: frozenset(other for read, other in turned if read == one and (other, one) in turned)
        for one, _ in turned
    }


def turns_back(makers: Sequence[BoundSubtask], consumer: BoundSubtask) -> bool:
    """Whether a subtask makes, without values of its own, of what the `makers` made one after the other, also
    without such values, the form that the first one read: unpacks what was packed, saves as plain text what
    was pasted from a plain text, or copies what was only pasted."""
    if any(map(own_values, (*makers, consumer))) or any(len(maker.inputs) > 1 for maker in makers[1:]):
        return False
    made = _forms(set(makers[-1].outputs) & set(consumer.inputs), copied=False)
    before = _forms(makers[0].inputs, copied=len(makers[0].inputs) == 1) - made
    return bool(made and before & _forms(consumer.outputs, copied=True) - made)


def _forms(items: Iterable[Resource], *, copied: bool) -> set[tuple[str, str]]:
    """What kinds of things these are, with the endings of their names; with or without what is copied."""
    return {
        (item.category, "" if item.is_transient else PurePosixPath(item.value).suffix)
        for item in items
        if item.slot is None or (copied and item.is_transient)
    }


def converts(node: BoundSubtask) -> bool:
    """Whether a subtask only puts what a file or the clipboard holds into a file of another format."""
    made = [item for item in node.outputs if item.slot is None]
    if own_values(node) or len(node.inputs) != 1 or [item.kind for item in made] != [ResourceKind.FILE]:
        return False
    (read,) = node.inputs
    return read.is_transient or (
        read.kind is ResourceKind.FILE
        and PurePosixPath(read.value).suffix != PurePosixPath(made[0].value).suffix
    )


def puts_together(node: BoundSubtask) -> bool:
    """Whether a subtask makes one file of several, such as an archive, and adds nothing."""
    things = [*node.inputs, *node.outputs]
    made = [item for item in node.outputs if item.slot is None]
    only_files = all(item.kind is ResourceKind.FILE and item.slot is None for item in things)
    return only_files and len(node.inputs) > 1 == len(made) and not node.consumed and not own_values(node)


def own_values(node: BoundSubtask) -> set[str]:
    """The parameters of a subtask that are no resources, such as a text."""
    return set(node.parameters.values()) - {item.value for item in (*node.inputs, *node.outputs)}


def _file_names(parameters: Mapping[str, str]) -> list[str]:
    return [path.name for value in parameters.values() if (path := PurePosixPath(value)).suffix]


def _has_own_values(subtask: Subtask | ExampleSubtask, parameter_sets: Iterable[Mapping[str, str]]) -> bool:
    resources = {item.parameter for item in (*subtask.inputs, *subtask.outputs)}
    return any(not resources.issuperset(values) for values in parameter_sets)
