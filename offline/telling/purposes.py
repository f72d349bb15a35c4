"""What it is all for: found in what the world says of the things, and told in one of many ways."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from taskloom.offline.telling.clauses import Graph
from taskloom.offline.telling.phrasebook import Phrasebook, Teller, Thing
from taskloom.offline.telling.sentences import Sentence, Voice, instruction_of

_LONG = 26
"""Words from which on a text says first what it is for."""
_OCCASION = (
    r"\b(?:meeting|fair|festival|wedding|holiday|party|market|trip|tour|match|evening|camp|reunion|dinner|visit"
    r"|inspection|assembly|tournament|cup|expedition|tasting|launch|opening|conference|anniversary|week|day|round|birthday"
    r"|season|sale|drill|standup|retrospective|exam|regatta|league|move|release|talk|review|audit|break)\b"
)
"""What has a date, so that one can prepare it."""
_IN_APPLICATION = re.compile(r" (?:in|with) [\w.-]+$")
"""A text that ends with the name of an application, after which "for the winter" would say something of
that."""
_MILESTONE = "milestone_name"
_PUBLISHED, _PASTED = frozenset({"page_title", "note_title"}), "text_in_clipboard"
_SMALL = frozenset(["the", "of", "in", "on", "at", "a", "for", "to", "new", "next", "list", "note", "page"])


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a task is for."""

    use: str
    """What its results are wanted for: "the tax return"."""
    thing: str = ""
    """What people call what is wanted, if there is one thing: "the March sales"."""
    readers: str = ""
    """Who is to read it, if it is a text that is put onto a page or into a note: "the club board"."""


def purpose_of(
    graph: Graph, book: Phrasebook, uses: Mapping[str, str], called: Mapping[str, str], readers: str = ""
) -> Purpose | None:
    """What the last subtasks have in common that is wanted for something, or the last one where there is one
    only.

    Where several end in different things, what all of them come from; None where nothing is known, where a
    name says already what it is for, and of a milestone, which is what its tickets are for. A text that is
    put onto a new page or into a new note is for its `readers`.
    """
    sinks = [graph.tellers[number] for number in graph.sinks()]
    shared = _shared(sinks, uses)
    if len(sinks) > 1 or not sinks:
        candidates = shared or [thing for teller in _sources(graph) for thing in _things(teller, uses)]
    else:
        made = {link.value for link in graph.links if not graph.tellers[link.producer].inputs}
        collected = [thing for thing in sinks[0].inputs if len(sinks[0].inputs) > 1 and thing.value in made]
        candidates = [thing for thing in reversed(collected) if thing.value in uses] or shared
        candidates = candidates or [
            thing for teller in graph.tellers.values() for thing in _things(teller, uses)
        ]
    if not candidates:
        return None
    chosen = candidates[0]
    use = uses[chosen.value]
    produced = [thing for teller in graph.tellers.values() for thing in teller.outputs if thing.value]
    if readers and len(sinks) == 1 and _is_pasted(sinks[0]):
        return Purpose("", readers=readers)
    if any(item.category == _MILESTONE or _words(use) <= _words(_apart(item.value)) for item in produced):
        return None
    thing = called.get(chosen.value, "")
    wanted = (
        len(sinks) == 1
        and (book.is_file(chosen.category) or chosen.category in ("note_title", "table_name"))
        and all(item.value != chosen.value for item in produced)
    )
    return Purpose(use, thing if wanted and not _words(thing) & _words(use) else "")


def said_for(
    purpose: Purpose,
    sentences: Sequence[Sentence],
    voice: Voice,
    random: Random,
    share: float,
    *,
    short: bool,
) -> str:
    """The sentences as an instruction that says what it is for: at the beginning, at the end, as a request or
    as a reason.

    `share` (0 to 1) says which of the possible ways; with `short`, which of those that take the fewest words.
    """
    use, thing = purpose.use, purpose.thing
    ways = _ways(purpose, sentences, short=short)
    way = ways[int(share * len(ways))]
    if way == "last":
        sentences[-1].purpose = f"for {use}"
        return instruction_of(sentences, voice, random)
    if way == "readers":
        told = sentences[0] if sentences[0].wish else sentences[-1]
        told.purpose = f"so that {purpose.readers} can read it"
        return instruction_of(sentences, voice, random)
    if way == "prepare" and voice == "polite" and not sentences[0].wish:
        voice = "terse"
    text = instruction_of(sentences, voice, random)
    match way:
        case "prepare":
            return f"To prepare for {use}, {_inside(text)}"
        case "ahead":
            return f"Ahead of {use}, {_inside(text)}"
        case "needed":
            return f"We need {thing} for {use}. {text}"
        case _:
            return f"For {use}, {_inside(text)}"


def _ways(purpose: Purpose, sentences: Sequence[Sentence], *, short: bool) -> list[str]:
    """The ways in which it can be said what it is for; of long texts and of places for several things, those
    that say it first."""
    wish = sentences[0].wish
    if purpose.readers:
        return ["readers"]
    occasion = re.search(_OCCASION, purpose.use) is not None
    told = " ".join(clause for sentence in sentences for clause in sentence.clauses)
    places = any(sentence.makes_place for sentence in sentences)
    dated = ["prepare"] if occasion and not wish and not purpose.use.endswith("planning") else []
    ways = ["front", *dated]
    if len(sentences) > 1 or len(told.split()) > _LONG or places:
        ways += ["ahead"] if occasion and places else []
        return [*ways, "needed"] if purpose.thing and not wish and not short else ways
    if (
        told.rpartition(" ")[2] not in ("table", "page", "folder", "milestone")
        and told[-1:] not in "”`"
        and " for the " not in told
        and _IN_APPLICATION.search(told) is None
    ):
        ways += ["last"] * 4
    return [*ways, "needed", "needed"] if purpose.thing and not wish and not short else ways


def _is_pasted(teller: Teller) -> bool:
    """Whether a subtask puts what was copied onto a new page or into a new note."""
    return any(thing.category in _PUBLISHED for thing in teller.outputs) and any(
        item.category == _PASTED for item in teller.inputs
    )


def _shared(sinks: Sequence[Teller], uses: Mapping[str, str]) -> list[Thing]:
    """What all last subtasks read that is wanted for something, what they read first last; else what they
    make."""
    if not sinks:
        return []
    values = set.intersection(*({item.value for item in teller.inputs} for teller in sinks))
    found = [item for item in sinks[0].inputs if item.value in values and item.value in uses]
    if not found and len(sinks) == 1:
        found = [item for item in sinks[0].outputs if item.value in uses]
    return found


def _sources(graph: Graph) -> list[Teller]:
    """The subtasks from which all last ones follow."""
    found = []
    for number, teller in graph.tellers.items():
        reached = {number}
        for _ in graph.tellers:
            reached |= {link.consumer for link in graph.links if link.producer in reached}
        if set(graph.sinks()) <= reached:
            found.append(teller)
    return found


def _things(teller: Teller, uses: Mapping[str, str]) -> list[Thing]:
    return [item for item in (*teller.outputs, *teller.inputs) if item.value in uses]


def _words(text: str) -> set[str]:
    """The words of some meaning, without their endings."""
    return {word[:5] for word in re.findall(r"\w+", text.casefold())} - {word[:5] for word in _SMALL}


def _apart(name: str) -> str:
    """A name with its words apart.

    >>> _apart("StaffMeeting"), _apart("Documents/staff_meeting.txt")
    ('Staff Meeting', 'Documents/staff meeting.txt')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")


def _inside(text: str) -> str:
    """A text that goes on after a comma or a colon."""
    return text if re.match(r"I\b", text) else text[:1].lower() + text[1:]
