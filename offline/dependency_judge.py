"""Dependency judge by rule: reads the instruction alone, as a careful reader would, and never sees a graph.

It finds the passages that ask for each subtask, and resolves what their words refer to.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskloom.offline.phrasebook import NamedResource, Phrasebook, PhrasedSubtask, full_name, parts_of
from taskloom.prompts.inputs import DependencyJudgeInput
from taskloom.prompts.replies import DependencyJudgeReply, DependencyPair
from taskloom.taskgraph.records.subtask import with_path_parts

_PURPOSE = re.compile(r"^For [^,.]+, ")
"""The purpose of the task, which asks for nothing."""
_MOST_FILLER_WORDS = 3
"""Maximum number of words between two requests that are not a request themselves."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A passage that asks for a subtask."""

    number: int
    start: int
    end: int
    references: Mapping[str, str]
    """The words for its inputs, by placeholder."""

    def is_listed_with(self, other: "Mention") -> bool:
        """Whether the same passage makes the same request for another resource."""
        same_passage = (self.start, self.end) == (other.start, other.end)
        return same_passage and list(self.references.values()) != list(other.references.values())


def infer(view: DependencyJudgeInput, book: Phrasebook) -> DependencyJudgeReply:
    """The direct dependencies that the words state, the subtasks they leave out, and other requests."""
    reader = _Reader(" ".join(view.instruction.split()), book.phrased(view.subtasks))
    pairs = {
        (producer, number)
        for number in reader.mentions
        for resource in reader.subtasks[number].inputs
        for producer in reader.sources(number, resource)
    }
    return DependencyJudgeReply(
        dependencies=[DependencyPair(before=before, after=after) for before, after in sorted(pairs)],
        not_asked_for=sorted(reader.subtasks.keys() - reader.mentions.keys()),
        not_listed=list(reader.other_requests()),
    )


class _Reader:
    def __init__(self, text: str, subtasks: Mapping[int, PhrasedSubtask]) -> None:
        self.text, self.subtasks = _PURPOSE.sub("", text), subtasks
        self.mentions: dict[int, Mention] = {}
        inputs = [resource for subtask in subtasks.values() for resource in subtask.inputs]
        patterns = {pattern for resource in inputs for pattern in _name_patterns(resource)}
        self._any_input = "|".join(sorted(patterns, key=len)[::-1])
        candidates = [mention for subtask in subtasks.values() for mention in self._requests(subtask)]
        for mention in sorted(candidates, key=lambda item: (item.start - item.end, item.start, item.number)):
            fits = all(
                mention.end <= other.start or other.end <= mention.start or mention.is_listed_with(other)
                for other in self.mentions.values()
            )
            if fits and mention.number not in self.mentions and self._is_unambiguous(mention):
                self.mentions[mention.number] = mention

    def sources(self, number: int, resource: NamedResource) -> list[int]:
        """The subtasks mentioned earlier that make an input of a subtask; for a slot, only the last."""
        start = self.mentions[number].start
        producers = sorted(
            (mention.start, mention.number)
            for mention in self.mentions.values()
            if mention.start < start and self.subtasks[mention.number].makes(resource)
        )
        return [producer for _, producer in (producers[-1:] if resource.category.is_slot else producers)]

    def other_requests(self) -> Iterator[str]:
        """Passages that ask for something else: several words, or a name, outside all mentions."""
        titles = {word for item in self.subtasks.values() for word in item.application.split()}
        passages: list[list[str]] = [[]]
        for match in re.finditer(r"[“`][^”`]*[”`]|\S+", self.text):
            word = match.group()
            covered = any(item.start <= match.start() < item.end for item in self.mentions.values())
            if not covered and word.strip(".,;:!?'’") not in titles:
                passages[-1].append(word)
            if covered or word.endswith((".", "!", "?")):
                passages.append([])
        for passage in passages:
            if len(passage) > _MOST_FILLER_WORDS or any(word[0] in "“`" or "/" in word for word in passage):
                yield " ".join(passage)

    def _requests(self, subtask: PhrasedSubtask) -> Iterator[Mention]:
        pattern = rf"(?<![\w/]){self._pattern(subtask)}(?![\w/])"
        for match in re.finditer(pattern, self.text, re.IGNORECASE):
            yield Mention(subtask.number, *match.span(), match.groupdict())

    def _pattern(self, subtask: PhrasedSubtask) -> str:
        values = with_path_parts(subtask.parameters)
        pattern = ""
        for part in parts_of(subtask.phrase):
            resource = subtask.reads(part.text) if part.kind == "placeholder" else None
            if part.kind == "opening":
                pattern += "(?:"
            elif part.kind == "closing":
                pattern += ")?,?"
            elif part.kind == "words":
                pattern += re.escape(re.sub("[“”`]", "", part.text))
            elif resource is None:
                pattern += _literal_pattern(values[part.text])
            else:
                reference = f"(?P<{part.text}>{'|'.join(_name_patterns(resource))})"
                before = f"(?:(?:{self._any_input})(?:, (?:{self._any_input}))*(?:,| and) )?"
                after = f"(?:(?:, (?:{self._any_input}))* and (?:{self._any_input}))?"
                is_named = resource.value and not resource.category.is_slot
                pattern += f"{before}{reference}{after}" if is_named else reference
        return pattern

    def _is_unambiguous(self, mention: Mention) -> bool:
        """Whether the words can only mean this subtask.

        No other application is named right after them, and none that would be asked in the same words was
        named last; and words for a kind ("the page") mean its input, the last resource of that kind named.
        """
        application = self.subtasks[mention.number].application
        others = "|".join(
            re.escape(item.application) for item in self.subtasks.values() if item.application != application
        )
        after = self.text[mention.end :]
        if others and re.match(rf" \w+ (?:{others})(?!\w)", after, re.IGNORECASE):
            return False
        if self._implied_application(mention) not in ("", application):
            return False
        for placeholder, words in mention.references.items():
            resource = self.subtasks[mention.number].reads(placeholder)
            if resource is None or resource.category.is_slot:
                continue
            if words.casefold() != resource.category.again.casefold():
                continue
            before = self.text[: mention.start]
            subtasks = self.subtasks.values()
            resources = (item for subtask in subtasks for item in (*subtask.inputs, *subtask.outputs))
            ends = {
                item.value: max(
                    (match.end() for match in re.finditer(_literal_pattern(item.value), before)), default=-1
                )
                for item in resources
                if item.value and item.category.again == resource.category.again
            }
            if ends[resource.value] < max(ends.values()) or ends[resource.value] < 0:
                return False
        return True

    def _implied_application(self, mention: Mention) -> str:
        """The application meant by words that name none: the last one named before, of those that would be
        asked in the same words; empty if the words name one, or none was named."""
        frame = self.subtasks[mention.number].frame
        candidates = {item.application for item in self.subtasks.values() if item.frame == frame}
        positions = {name: self.text.rfind(name, 0, mention.end) for name in candidates}
        last = max(positions, key=lambda name: positions[name])
        return "" if len(candidates) == 1 or not -1 < positions[last] < mention.start else last


def _name_patterns(resource: NamedResource) -> list[str]:
    """Patterns for the words that name a resource."""
    patterns = [re.escape(words) for words in (full_name(resource), resource.category.again) if words]
    return [*patterns, _literal_pattern(resource.value)] if resource.value else patterns


def _literal_pattern(value: str) -> str:
    return rf"[“`'\"]?{re.escape(' '.join(value.split()))}[”`'\"]?(?![\w/])"
