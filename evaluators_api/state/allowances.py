"""What a subtask's work may change, told from its performances."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.effects import LASTING, holder_of
from taskloom.evaluators_api.state.essential import Performance, is_unreadable
from taskloom.evaluators_api.state.formats.key_values import BODY
from taskloom.evaluators_api.state.reading import FALLBACK
from taskloom.evaluators_api.state.templates import is_generated, names_parameter, parameters_named
from taskloom.resources.noise import EffectKind
from taskloom.taskgraph.records.effect import ANY, Allowance, Effect
from taskloom.taskgraph.records.evidence import is_open_document

Place = tuple[str, ...]
"""Part of the state, file or folder, and address in it; or all of them in terms of the parameters."""
_Kind = tuple[Place, EffectKind]
"""Where in terms of the parameters, and what happens there."""
_LASTING = frozenset({"file", "directory"})
_FILE = 2
"""Length of the place of a whole file or folder."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def lasting(found: Iterable[Effect]) -> Iterator[Effect]:
    """Effects on files and folders; clipboard, window, screen and open documents are no possessions."""
    return (effect for effect in found if effect.area in _LASTING and not is_open_document(effect.container))


class _Seen(NamedTuple):
    """What one performance did at a place."""

    performance: int
    effect: Effect
    holder: Effect | None
    """Something added that it lies in."""
    value: str | None
    """What it left there, as all may share it."""


def allowances(
    performances: Sequence[Performance], by_products: Container[tuple[str, ...]] = frozenset()
) -> tuple[Allowance, ...]:
    """What work may change that does what one of `performances`, all of one subtask, does.

    Inside of something added, performances that agree bound what may be there: how long its lists are, and
    values that are the same whatever the parameters, but for files and tables that are `by_products`: they
    keep how the work was done. A copy is one value, whatever is in it, and so are the lines of a new text;
    copied records are as many as their source has. Of tokens and entries of a history any number may come:
    as many as saves.
    """
    changes = [found for found, _ in performances]
    entries = _entries_of_saves(changes)
    free = _passing_places(changes) | entries.keys()
    seen: dict[_Kind, list[_Seen]] = defaultdict(list)
    within: dict[_Kind, dict[Place, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, found in enumerate(changes):
        outermost: dict[Place, Effect] = {}
        for effect in lasting(found):
            holder = holder_in(effect, outermost)
            if holder is None:
                outermost[effect.place] = effect
            elif holder.source:
                continue
            elif not _is_line(effect, holder):
                within[_pattern(holder), effect.kind][_pattern(effect)].add(number)
            value = None if holder_of(effect) in by_products else _value(effect)
            seen[_pattern(effect), effect.kind].append(_Seen(number, effect, holder, value))
    return tuple(
        _inner(found)
        if found[0].holder is not None
        else _outer(found, entries.get(kind[0], frozenset()), within.get(kind, {}), passing=kind[0] in free)
        for kind, found in sorted(seen.items(), key=lambda item: str(item[0]))
    )


def _outer(
    seen: Sequence[_Seen], words: frozenset[str], within: Mapping[Place, set[int]], *, passing: bool
) -> Allowance:
    """What may happen at a place, with the `words` that entries of a history hold. It is bounded where all
    performances have the same places `within` it."""
    first, numbers = seen[0].effect, {item.performance for item in seen}
    sources = {item.effect.records_of for item in seen}
    held = frozenset.intersection(*(frozenset(item.effect.holds) for item in seen))
    made_up = any(ANY in part for part in _pattern(first))
    follows = any(item.effect.follows for item in seen)
    any_number = passing or follows or _is_version(first.address)
    agreed = bool(within) and all(found == numbers for found in within.values())
    return _allowance(
        seen,
        holds=tuple(sorted(held | words)) if made_up else (),
        most=0 if any_number else max(_counts(seen)),
        most_of=min(sources) if len(sources) == 1 else "",
        bounded=agreed and not passing and len(numbers) > 1,
    )


def _inner(seen: Sequence[_Seen]) -> Allowance:
    """What may be inside of something added: as often, and with those values, as performances agree."""
    each: dict[int, set[str | None]] = defaultdict(set)
    for item in seen:
        each[item.performance].add(item.value)
    first, *others = each.values()
    told = [value for value in first if value is not None]
    agreed = bool(others) and all(held == first for held in others) and None not in first
    same = agreed and not any(map(names_parameter, told))
    listed = seen[0].effect.address_template[-1:] == (ANY,)
    counts = set(_counts(seen))
    bounded = bool(others) and len(counts) == 1 and (same or None in first or not listed)
    most, values = max(counts) if bounded else 0, tuple(sorted(told)) if same else None
    return _allowance(seen, inside=True, most=most, values=values)


def _counts(seen: Sequence[_Seen]) -> Iterable[int]:
    """How often in each performance or, inside of something added, in that."""
    return Counter((item.performance, item.holder and item.holder.place) for item in seen).values()


def _allowance(seen: Sequence[_Seen], **bounds: object) -> Allowance:
    first, contents = seen[0].effect, {item.effect.content for item in seen}
    return Allowance(
        area=first.area,
        container=first.container_template,
        address=first.address_template,
        kind=first.kind,
        content=first.content if len(contents) == 1 else None,
    ).model_copy(update=bounds)


def _value(effect: Effect) -> str | None:
    """The value as all performances may share it; None for one that says nothing when it differs."""
    value, pattern = effect.after or "", effect.address_template
    free = (
        effect.source
        or (value in ("", *effect.address[:-1]) and ANY in pattern)
        or (pattern[-1:] == (ANY,) and is_count(value))
        or _DATE.search(value)
        or value.lstrip()[:1] in ("[", "{")
    )
    return None if free else effect.after_template


def is_count(text: str) -> bool:
    """Whether it is a number that is not nought."""
    return _NUMBER.fullmatch(text) is not None and text not in ("0", "0.0")


def holder_in(effect: Effect, outermost: Mapping[Place, Effect]) -> Effect | None:
    """The outermost effect that `effect` lies in."""
    holders = (outermost.get(place) for place in effect.around)
    return next((item for item in holders if item and item.kind == effect.kind != "changed"), None)


def _is_line(effect: Effect, holder: Effect) -> bool:
    """Whether it is a line of a file that is new as a whole, or of the text after its header."""
    address = effect.address
    return not holder.address and address[-1].isdigit() and address[:-1] in ((), (BODY,))


def _pattern(effect: Effect) -> Place:
    return (effect.area, effect.container_template, *effect.address_template)


def _is_version(address: Sequence[str]) -> bool:
    """Whether it is a record known by what it belongs to and a number, of which every save may add one."""
    last = address[-1] if address else ""
    return ", " in last and ANY in last and last.replace(ANY, "").strip(", ") != ""


def _everywhere(each: Sequence[Mapping[Place, object]]) -> set[Place]:
    """The places that several performances all have."""
    return set.intersection(*map(set, each)) if len(each) > 1 else set()


def _passing_places(performances: Sequence[Sequence[Effect]]) -> set[Place]:
    """Places of records that every performance adds, of which nothing but references is said by a parameter,
    and with a value that no two performances share, such as a time: tokens, entries of a history."""
    each = [_fields_added(effects) for effects in performances]
    return {place for place in _everywhere(each) if _is_passing([held[place] for held in each])}


def _entries_of_saves(performances: Sequence[Sequence[Effect]]) -> dict[Place, frozenset[str]]:
    """Places where every performance adds what says no more than that something was saved: a line of a text
    that an application keeps for all that is in it, with a value that no two performances share, such as a
    time; a file that is unreadable, under a name that was made up.

    What parameters say there stands, in every performance, at a place that a parameter names as well, and
    there the account bounds it. A record under a name that was made up, of which no other place tells,
    is the work itself, and so are unreadable files where no line tells of saves. Each place has the words
    with parameters that all its entries have.
    """
    each = [_entries(effects) for effects in performances]
    told = [_told_at_named_places(effects) for effects in performances]
    entries = {}
    for place in _everywhere(each):
        texts = [held[place] for held in each]
        both = zip(texts, told, strict=True)
        if all(known and parameters_named(*held) <= known for held, known in both) and _differ(texts):
            words = (text.split() for held in texts for text in held)
            entries[place] = frozenset.intersection(
                *(frozenset(filter(names_parameter, parts)) for parts in words)
            )
    return entries if any(len(place) > _FILE for place in entries) else {}


def _entries(effects: Sequence[Effect]) -> dict[Place, list[str]]:
    new = {effect.container for effect in effects if effect.kind == "added" and not effect.address}
    held: dict[Place, list[str]] = {}
    for effect in effects:
        line = effect.address_template == (ANY,) and effect.container not in new and effect.format == FALLBACK
        if (
            effect.kind == "added"
            and effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
            and not names_parameter(effect.container_template)
            and (line or is_unreadable(effect))
        ):
            held.setdefault(_pattern(effect), []).append(effect.after_template or "")
    return held


def _told_at_named_places(effects: Sequence[Effect]) -> set[str]:
    steady = (item for item in effects if item.area in LASTING and ANY not in item.container_template)
    named = ((item, _pattern(item)) for item in steady)
    told = (
        (*place, item.before_template, item.after_template)
        for item, place in named
        if any(map(names_parameter, place))
    )
    return parameters_named(*chain.from_iterable(told))


def _differ(each: Sequence[Sequence[str]]) -> bool:
    """Whether each performance has a value that looks generated and that no other one has."""
    counted = Counter(text for texts in each for text in {*texts} if is_generated(text))
    return all(any(counted[text] == 1 for text in texts) for texts in each)


def _fields_added(effects: Sequence[Effect]) -> dict[Place, dict[Place, set[str]]]:
    held: dict[Place, dict[Place, set[str]]] = {}
    for effect in effects:
        if effect.kind == "added" and effect.address_template[-2:-1] == (ANY,):
            told = "{" if effect.source else effect.after_template or ""
            held.setdefault(_pattern(effect)[:-1], {}).setdefault(effect.key, set()).add(told)
    return held


def _is_passing(each: Sequence[Mapping[Place, set[str]]]) -> bool:
    if any(names_parameter(told) for held in each for values in held.values() for told in values):
        return False
    values_of = ([held[key] for held in each] for key in set.intersection(*map(set, each)))
    return any(
        len(set[str]().union(*values)) == sum(map(len, values)) and any(map(is_generated, chain(*values)))
        for values in values_of
    )
