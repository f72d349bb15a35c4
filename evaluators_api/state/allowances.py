"""What the work on a subtask may change, derived from its performances."""

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
"""Area of the state, file or folder, and address in it; literal or in terms of the parameters."""
_PlaceAndKind = tuple[Place, EffectKind]
"""A place in terms of the parameters, and the kind of change there."""
_STORED = frozenset({"file", "directory"})
_FILE_DEPTH = 2
"""Length of the place of a whole file or folder."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def stored(found: Iterable[Effect]) -> Iterator[Effect]:
    """Effects on stored files and folders, not on clipboard, window, screen and open documents."""
    return (effect for effect in found if effect.area in _STORED and not is_open_document(effect.container))


class _Occurrence(NamedTuple):
    """An effect of one performance at a place."""

    performance: int
    effect: Effect
    holder: Effect | None
    """The addition in which the effect lies."""
    value: str | None
    """The value that it left, in a form that all performances can share."""


def allowances(
    performances: Sequence[Performance], by_products: Container[tuple[str, ...]] = frozenset()
) -> tuple[Allowance, ...]:
    """What work equivalent to any of `performances`, all of one subtask, may change.

    Inside an addition, performances that agree set bounds: the length of its lists, and values that are the
    same whatever the parameters, except in files and tables that are `by_products`, which record how the work
    was done. A copy is one value whatever its content, and so are the lines of a new text; there are as many
    copied records as in their source. Any number of tokens and history entries may be added, one per save.
    """
    changes = [effects for effects, _ in performances]
    save_entries = _save_entries(changes)
    unlimited = _log_places(changes) | save_entries.keys()
    occurrences: dict[_PlaceAndKind, list[_Occurrence]] = defaultdict(list)
    within: dict[_PlaceAndKind, dict[Place, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, performance_effects in enumerate(changes):
        outermost: dict[Place, Effect] = {}
        for effect in stored(performance_effects):
            holder = holder_in(effect, outermost)
            if holder is None:
                outermost[effect.place] = effect
            elif holder.source:
                continue
            elif not _is_line(effect, holder):
                within[_pattern(holder), effect.kind][_pattern(effect)].add(number)
            value = None if holder_of(effect) in by_products else _shared_value(effect)
            occurrences[_pattern(effect), effect.kind].append(_Occurrence(number, effect, holder, value))
    return tuple(
        _inner_allowance(found)
        if found[0].holder is not None
        else _outer_allowance(
            found,
            save_entries.get(kind[0], frozenset()),
            within.get(kind, {}),
            unlimited=kind[0] in unlimited,
        )
        for kind, found in sorted(occurrences.items(), key=lambda item: str(item[0]))
    )


def _outer_allowance(
    occurrences: Sequence[_Occurrence],
    words: frozenset[str],
    within: Mapping[Place, set[int]],
    *,
    unlimited: bool,
) -> Allowance:
    """The allowance for a place, with the `words` that history entries hold. It is bounded if all
    performances have the same places `within` it."""
    first, numbers = occurrences[0].effect, {item.performance for item in occurrences}
    sources = {item.effect.records_of for item in occurrences}
    common_texts = frozenset.intersection(*(frozenset(item.effect.holds) for item in occurrences))
    has_generated_name = any(ANY in part for part in _pattern(first))
    follows = any(item.effect.follows for item in occurrences)
    any_number = unlimited or follows or _is_version(first.address)
    agree = bool(within) and all(performances == numbers for performances in within.values())
    return _allowance(
        occurrences,
        holds=tuple(sorted(common_texts | words)) if has_generated_name else (),
        most=0 if any_number else max(_counts(occurrences)),
        most_of=min(sources) if len(sources) == 1 else "",
        bounded=agree and not unlimited and len(numbers) > 1,
    )


def _inner_allowance(occurrences: Sequence[_Occurrence]) -> Allowance:
    """The allowance inside an addition, with the counts and values on which performances agree."""
    by_performance: dict[int, set[str | None]] = defaultdict(set)
    for item in occurrences:
        by_performance[item.performance].add(item.value)
    first, *others = by_performance.values()
    shared = [value for value in first if value is not None]
    agree = bool(others) and all(values == first for values in others) and None not in first
    same_values = agree and not any(map(names_parameter, shared))
    is_listed = occurrences[0].effect.address_template[-1:] == (ANY,)
    counts = set(_counts(occurrences))
    bounded = bool(others) and len(counts) == 1 and (same_values or None in first or not is_listed)
    return _allowance(
        occurrences,
        inside=True,
        most=max(counts) if bounded else 0,
        values=tuple(sorted(shared)) if same_values else None,
    )


def _counts(occurrences: Sequence[_Occurrence]) -> Iterable[int]:
    """Numbers of occurrences in each performance or, inside an addition, in each addition."""
    return Counter((item.performance, item.holder and item.holder.place) for item in occurrences).values()


def _allowance(occurrences: Sequence[_Occurrence], **bounds: object) -> Allowance:
    first, contents = occurrences[0].effect, {item.effect.content for item in occurrences}
    return Allowance(
        area=first.area,
        container=first.container_template,
        address=first.address_template,
        kind=first.kind,
        content=first.content if len(contents) == 1 else None,
    ).model_copy(update=bounds)


def _shared_value(effect: Effect) -> str | None:
    """The value in a form that all performances can share; None if its differences mean nothing."""
    value, pattern = effect.after or "", effect.address_template
    may_differ = (
        effect.source
        or (value in ("", *effect.address[:-1]) and ANY in pattern)
        or (pattern[-1:] == (ANY,) and is_count(value))
        or _DATE.search(value)
        or value.lstrip()[:1] in ("[", "{")
    )
    return None if may_differ else effect.after_template


def is_count(text: str) -> bool:
    """Whether a text is a number other than zero."""
    return _NUMBER.fullmatch(text) is not None and text not in ("0", "0.0")


def holder_in(effect: Effect, outermost: Mapping[Place, Effect]) -> Effect | None:
    """The outermost effect in which `effect` lies."""
    holders = (outermost.get(place) for place in effect.around)
    return next((item for item in holders if item and item.kind == effect.kind != "changed"), None)


def _is_line(effect: Effect, holder: Effect) -> bool:
    """Whether an effect is a line of a new file, or of the text after its header."""
    address = effect.address
    return not holder.address and address[-1].isdigit() and address[:-1] in ((), (BODY,))


def _pattern(effect: Effect) -> Place:
    return (effect.area, effect.container_template, *effect.address_template)


def _is_version(address: Sequence[str]) -> bool:
    """Whether it is a record named by its owner and a number; every save may add one."""
    last = address[-1] if address else ""
    return ", " in last and ANY in last and last.replace(ANY, "").strip(", ") != ""


def _common_places(performances: Sequence[Mapping[Place, object]]) -> set[Place]:
    """The places common to all performances, if there are several of these."""
    return set.intersection(*map(set, performances)) if len(performances) > 1 else set()


def _log_places(performances: Sequence[Sequence[Effect]]) -> set[Place]:
    """Places of log records: added by every performance, with parameters only in references, and with a value
    that no two performances share, such as a time. Examples are tokens and history entries."""
    added = [_fields_added(effects) for effects in performances]
    return {place for place in _common_places(added) if _is_log([fields[place] for fields in added])}


def _save_entries(performances: Sequence[Sequence[Effect]]) -> dict[Place, frozenset[str]]:
    """Places where every performance adds entries that only show that something was saved: a line in a text
    that an application keeps for all data, with a value that no two performances share, such as a time; or
    an unreadable file with a generated name. Each place comes with the words with parameters that all its
    entries share.

    Every parameter in an entry must also occur, in each performance, at a place that a parameter names; there
    the account bounds it. A record with a generated name that no other place mentions is the work itself, and
    so are unreadable files if no line records saves.
    """
    added = [_added_entries(effects) for effects in performances]
    named = [_parameters_at_named_places(effects) for effects in performances]
    entries = {}
    for place in _common_places(added):
        texts = [places[place] for places in added]
        pairs = zip(texts, named, strict=True)
        explained = all(known and parameters_named(*own) <= known for own, known in pairs)
        if explained and _have_unique_values(texts):
            words = (text.split() for own in texts for text in own)
            entries[place] = frozenset.intersection(
                *(frozenset(filter(names_parameter, parts)) for parts in words)
            )
    return entries if any(len(place) > _FILE_DEPTH for place in entries) else {}


def _added_entries(effects: Sequence[Effect]) -> dict[Place, list[str]]:
    new_files = {effect.container for effect in effects if effect.kind == "added" and not effect.address}
    entries: dict[Place, list[str]] = {}
    for effect in effects:
        is_line = (
            effect.address_template == (ANY,)
            and effect.container not in new_files
            and effect.format == FALLBACK
        )
        if (
            effect.kind == "added"
            and effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
            and not names_parameter(effect.container_template)
            and (is_line or is_unreadable(effect))
        ):
            entries.setdefault(_pattern(effect), []).append(effect.after_template or "")
    return entries


def _parameters_at_named_places(effects: Sequence[Effect]) -> set[str]:
    steady = (item for item in effects if item.area in LASTING and ANY not in item.container_template)
    places = ((item, _pattern(item)) for item in steady)
    templates = (
        (*place, item.before_template, item.after_template)
        for item, place in places
        if any(map(names_parameter, place))
    )
    return parameters_named(*chain.from_iterable(templates))


def _have_unique_values(performances: Sequence[Sequence[str]]) -> bool:
    """Whether each performance has a value that looks generated and that no other performance has."""
    counts = Counter(text for texts in performances for text in {*texts} if is_generated(text))
    return all(any(counts[text] == 1 for text in texts) for texts in performances)


def _fields_added(effects: Sequence[Effect]) -> dict[Place, dict[Place, set[str]]]:
    fields: dict[Place, dict[Place, set[str]]] = {}
    for effect in effects:
        if effect.kind == "added" and effect.address_template[-2:-1] == (ANY,):
            value = "{" if effect.source else effect.after_template or ""
            fields.setdefault(_pattern(effect)[:-1], {}).setdefault(effect.key, set()).add(value)
    return fields


def _is_log(performances: Sequence[Mapping[Place, set[str]]]) -> bool:
    if any(names_parameter(value) for fields in performances for value in chain(*fields.values())):
        return False
    keys = set.intersection(*map(set, performances))
    return any(
        len(set[str]().union(*values)) == sum(map(len, values)) and any(map(is_generated, chain(*values)))
        for values in ([fields[key] for fields in performances] for key in keys)
    )
