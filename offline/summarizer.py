"""Summarizer by rule: puts a task graph, in a given order, and its goal into the catalogue's phrases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from taskloom.offline.phrasebook import (
    INSTRUCTION,
    NamedResource,
    Phrasebook,
    PhrasedSubtask,
    full_name,
    name,
    parts_of,
)
from taskloom.prompts.inputs import ResourceLink, SummarizerInput
from taskloom.prompts.replies import SummarizerReply
from taskloom.taskgraph.records.subtask import with_path_parts

_OPENINGS = ("", "Please ")
_LONGEST_SENTENCE = 36
"""Maximum number of words in a sentence with two requests."""
_RECENT = 3
"""Number of recently mentioned resources that may be called by the words for their kind."""
_WORDS_JUST_BEFORE = 3
"""Number of preceding words that count as just before a word."""
_BY_VALUE = ("file", "record")
_QUOTES = ("“", "`", "'")


def summarize(view: SummarizerInput, attempt: int, book: Phrasebook) -> SummarizerReply:
    """The goal, if none is given, and the instruction; on later attempts, with every name in full."""
    subtasks = book.phrased(view.subtasks)
    goal = view.goal or InstructionWriter(subtasks, view.links).goal()
    key = "\n".join(subtask.instruction for subtask in view.subtasks)
    writer = InstructionWriter(subtasks, view.links, explicit=attempt > 0)
    text = writer.instruction([subtask.number for subtask in view.subtasks])
    opening = Random(f"{key}\0{attempt}").choice(_OPENINGS)
    uses = dict.fromkeys(view.uses.values())
    opening = f"For {next(iter(uses))}, {opening.lower()}" if len(uses) == 1 else opening
    text = opening + text[:1].lower() + text[1:] if opening else text
    return SummarizerReply(goal=goal, instruction=text)


@dataclass(slots=True)
class InstructionWriter:
    """Puts the subtasks of one graph into words in turn, and remembers what it has mentioned."""

    subtasks: Mapping[int, PhrasedSubtask]
    links: Sequence[ResourceLink]
    explicit: bool = False
    """Whether every resource is called by its name every time."""
    _mentioned: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """The words for the kind of every mentioned resource, in the order of mention."""
    _application: str = ""

    def instruction(self, order: Sequence[int]) -> str:
        """The instruction. A request that needs the one before shares a sentence with it, if that stays
        short. Consecutive subtasks that differ in one input share a request. A sentence that spans several
        applications names them all."""
        pairs = {(link.producer, link.consumer) for link in self.links}
        sentences: list[list[str]] = []
        previous = 0
        for group, following in pairwise([*self._grouped(order), []]):
            continues = (previous, group[0]) in pairs and len(sentences[-1]) == 1
            applications = {self.subtasks[number].application for number in (group[-1], *following[:1])}
            if not continues and len(applications) > 1 and (group[-1], following[0]) in pairs:
                self._application = ""
            text = self.request(*group)
            joined = [*sentences[-1], text] if continues else []
            previous = group[-1]
            if len(joined) == 2 and len(" ".join(joined).split()) <= _LONGEST_SENTENCE:
                sentences[-1] = joined
            else:
                sentences.append([text])
        return " ".join(_sentence(", then ".join(texts)) for texts in sentences)

    def goal(self) -> str:
        """The final subtasks, in one sentence without a full stop, with those whose product they take from
        the clipboard or another slot."""
        producers = {link.producer for link in self.links}
        ends = self.subtasks.keys() - producers
        ends |= {link.producer for link in self.links if link.consumer in ends and link.kind not in _BY_VALUE}
        texts = [self.request(number) for number in self.subtasks if number in ends]
        words = "; ".join(texts) if len(texts) > 2 else ", and ".join(texts)
        return (words[:1].upper() + words[1:]).removesuffix(".")

    def request(self, *numbers: int) -> str:
        """The request for a subtask, or for several that differ in one input; mentions their outputs."""
        subtasks = [self.subtasks[number] for number in numbers]
        words = self._fill_phrase(*subtasks)
        for subtask in subtasks:
            for item in subtask.outputs:
                self._mention(item, subtask.number)
        self._application = subtasks[0].application
        return " ".join(words.split())

    def _grouped(self, order: Sequence[int]) -> list[list[int]]:
        """The subtasks in their order, grouped by request."""
        groups: list[list[int]] = []
        group_parts: set[int] = set()
        for number in order:
            group = groups[-1] if groups and not self.explicit else []
            parts = {_differing_part(self.subtasks[other], self.subtasks[number]) for other in group}
            if len(parts | group_parts) == 1 and -1 not in parts:
                group.append(number)
                group_parts = parts
            else:
                groups.append([number])
                group_parts = set()
        return groups

    def _fill_phrase(self, subtask: PhrasedSubtask, *others: PhrasedSubtask) -> str:
        values = with_path_parts(subtask.parameters)
        words, skips = "", False
        differing = {_differing_part(subtask, other) for other in others}
        for index, part in enumerate(parts_of(subtask.phrase)):
            if part.kind == "opening":
                skips = subtask.application == self._application
            elif part.kind == "closing":
                skips = False
                self._application = subtask.application
            elif skips:
                continue
            elif part.kind == "words":
                words += part.text
            elif index in differing:
                words += self._list_names(index, (subtask, *others))
            elif (resource := subtask.reads(part.text)) is not None:
                words += self._reference_to(resource, subtask, preceding=words)
            else:
                value = values[part.text]
                words += value if words.endswith(_QUOTES) or part.text == INSTRUCTION else name(value)
        return words

    def _list_names(self, index: int, readers: Sequence[PhrasedSubtask]) -> str:
        """The inputs of `readers` at a part, by name; "the text file" before a name would seem to mean it."""
        names = []
        for reader in readers:
            if (resource := _resource_at(reader, index)) is not None:
                self._mention(resource, self._producer_of(resource, reader))
                names.append(full_name(resource))
        return f"{', '.join(names[:-1])} and {names[-1]}"

    def _reference_to(self, resource: NamedResource, reader: PhrasedSubtask, preceding: str = "") -> str:
        """The words for an input: its name at first, then those for its kind while these are clear and repeat
        no word just before them, as in "the texts of the text file"."""
        producer = self._producer_of(resource, reader)
        key = _key(resource, producer)
        recent = list(self._mentioned)[-_RECENT:]
        again = resource.category.again
        is_only = [other for other, words in self._mentioned.items() if words == again] == [key]
        self._mention(resource, producer)
        before = (word.removesuffix("s") for word in preceding.split()[-_WORDS_JUST_BEFORE:])
        repeats = not set(again.split()[1:]).isdisjoint(before)
        clear = again and is_only and key in recent and not self.explicit
        return full_name(resource) if repeats or not clear else again

    def _producer_of(self, resource: NamedResource, reader: PhrasedSubtask) -> int | None:
        inputs = (link for link in self.links if link.consumer == reader.number)
        candidates = (link for link in inputs if link.category == resource.category.name)
        is_slot = resource.category.is_slot
        return next((link.producer for link in candidates if is_slot or link.value == resource.value), None)

    def _mention(self, resource: NamedResource, producer: int | None) -> None:
        key = _key(resource, producer)
        self._mentioned.pop(key, None)
        if resource.category.again:
            self._mentioned[key] = resource.category.again


def _differing_part(one: PhrasedSubtask, other: PhrasedSubtask) -> int:
    """The only part in which the phrases of two subtasks differ, by the resources that they read; or -1."""
    if one.application != other.application or one.frame != other.frame:
        return -1
    first, second = with_path_parts(one.parameters), with_path_parts(other.parameters)
    pairs = zip(parts_of(one.phrase), parts_of(other.phrase), strict=True)
    indices = [
        index
        for index, (part, other_part) in enumerate(pairs)
        if part.kind == "placeholder" and first.get(part.text) != second.get(other_part.text)
    ]
    resources = [_resource_at(subtask, index) for subtask in (one, other) for index in indices]
    return indices[0] if len(resources) == 2 and all(item and item.value for item in resources) else -1


def _resource_at(subtask: PhrasedSubtask, index: int) -> NamedResource | None:
    return subtask.reads(list(parts_of(subtask.phrase))[index].text)


def _key(resource: NamedResource, producer: int | None) -> tuple[str, str, str]:
    value = f"made by {producer}" if resource.category.is_slot else resource.value
    return resource.category.name, resource.application, value


def _sentence(text: str) -> str:
    ends = (".”", "!”", "?”", ".", "?", "!")
    return f"{text[:1].upper()}{text[1:].rstrip(' ,')}{'' if text.endswith(ends) else '.'}"
