"""Worlds by models: a kind of world is asked for, put to the same tests as a shipped one, and asked for again
with what failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from taskloom.model_clients.errors import CallFailedError
from taskloom.prompts.replies import WorldWriterReply
from taskloom.prompts.world_writer_input import WorldPlace, WorldWriterInput
from taskloom.resources.reading.worlds import (
    FORM_OF_ALL,
    PHRASE,
    WorldRules,
    common_placeholders,
    form_of,
    leaves,
)
from taskloom.synthesis.ports import Models

STAGE = "worlds"
_MOST_TOLD = 60
"""Problems told at a time; a model that reads hundreds mends few."""

Check = Callable[[WorldRules], Sequence[str]]
"""Everything wrong with the rules of a kind; empty if they pass."""


@dataclass(frozen=True, slots=True)
class WrittenWorld:
    """How writing a kind of world ended."""

    rules: WorldRules | None
    """The rules that passed; None if none did."""
    problems: tuple[str, ...]
    """What was wrong with the last answer."""
    rounds: int
    """Answers that were asked for."""


@dataclass(slots=True)
class _Draft:
    """What the writer has said so far; later answers change single places."""

    kind: str
    first: WorldRules
    head: dict[str, str] = field(default_factory=dict)
    draws: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def take(self, reply: WorldWriterReply) -> list[str]:
        """Take over an answer; returns what cannot be taken."""
        known = _places(self.first)
        said = {"owner": reply.owner, "title": reply.title, "description": reply.description}
        self.head |= {name: text.strip() for name, text in said.items() if text.strip()}
        self.draws |= {item.name.strip("{} "): tuple(item.words) for item in reply.draws}
        texts = {item.name.strip(): item.value.strip() for item in reply.places}
        self.texts |= {
            name: text for name, text in texts.items() if text and (name in known or _is_phrase(name, known))
        }
        return [
            f"{name}: there is no such place"
            for name in texts
            if name not in known and not _is_phrase(name, known)
        ]

    def missing(self) -> tuple[str, ...]:
        """Places that still have no text."""
        wanted = (name for name in _places(self.first) if not name.endswith(f".{PHRASE}"))
        heads = (name for name in ("owner", "title", "description") if name not in self.head)
        return (*heads, *(name for name in wanted if name not in self.texts))

    def rules(self) -> WorldRules:
        """The rules as they are now.

        Raises:
            ValidationError: they are none.
        """
        groups: dict[str, dict[str, dict[str, str]]] = {}
        labels: dict[str, dict[str, str]] = {}
        for name in _places(self.first):
            self._put(name, groups, labels)
        for name in self.texts:
            if name.endswith(f".{PHRASE}"):
                self._put(name, groups, labels)
        return WorldRules(kind=self.kind, draws=self.draws, groups=groups, labels=labels, **self.head)

    def _put(
        self, name: str, groups: dict[str, dict[str, dict[str, str]]], labels: dict[str, dict[str, str]]
    ) -> None:
        group, thing, attribute = name.split(".")
        if name not in self.texts:
            return
        if group == "labels":
            labels.setdefault(thing, {})[attribute] = self.texts[name]
        else:
            groups.setdefault(group, {}).setdefault(thing, {})[attribute] = self.texts[name]


async def write_world(
    kind: str,
    about: str,
    first: WorldRules,
    example: WorldRules,
    *,
    models: Models,
    check: Check,
    rounds: int,
) -> WrittenWorld:
    """Have a kind of world written, and written again where `check` finds something, at most `rounds` times.

    Args:
        kind: its name.
        about: what it is, in a few words.
        first: the kind of the first world, whose places are filled.
        example: a kind that ships, which the writer is shown.
        models: models by role.
        check: what a kind must pass.
        rounds: answers asked for at most.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    draft = _Draft(kind, first)
    problems: list[str] = []
    for number in range(1, rounds + 1):
        question = _question(kind, about, first, example).model_copy(
            update={
                "missing": draft.missing() if draft.texts else (),
                "feedback": tuple(problems[:_MOST_TOLD]),
            }
        )
        try:
            reply = await models.ask(question, stage=STAGE, item_id=kind, attempt=number - 1)
        except CallFailedError as error:
            problems = [str(error)]
            continue
        problems = draft.take(reply)
        if draft.missing():
            problems += [f"{name}: has no text" for name in draft.missing()]
            continue
        try:
            rules = draft.rules()
        except ValidationError as error:
            problems += [f"{item['loc']}: {item['msg']}" for item in error.errors(include_url=False)]
            continue
        found = check(rules)
        if not found:
            return WrittenWorld(rules, (), number)
        problems += found
    return WrittenWorld(None, tuple(problems), rounds)


def _question(kind: str, about: str, first: WorldRules, example: WorldRules) -> WorldWriterInput:
    shown = {".".join(place): text for place, text in leaves(example)}
    return WorldWriterInput(
        kind=kind,
        about=about,
        first_description=first.description,
        example_kind=example.kind,
        example_head=(
            ("owner", example.owner),
            ("title", example.title),
            ("description", example.description),
        ),
        example_draws=tuple((name, ", ".join(words)) for name, words in example.draws.items()),
        placeholders=common_placeholders(),
        places=tuple(
            WorldPlace(name=name, first=text, example=shown.get(name, ""), form=_form(name))
            for name, text in _places(first).items()
        ),
    )


def _form(name: str) -> str:
    """What a place must look like, in words; empty where any plain text will do."""
    group, _, attribute = name.split(".")
    if group == "labels" or attribute == PHRASE:
        return ""
    words = form_of(group, attribute)[1]
    return "" if words == FORM_OF_ALL else words


def _places(first: WorldRules) -> dict[str, str]:
    return {".".join(place): text for place, text in leaves(first)}


def _is_phrase(name: str, known: dict[str, str]) -> bool:
    """Whether it is the phrase of a thing that the first world has no phrase for."""
    thing, _, attribute = name.rpartition(".")
    return (
        attribute == PHRASE
        and any(place.startswith(f"{thing}.") for place in known)
        and thing.count(".") == 1
    )
