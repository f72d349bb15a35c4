"""Which effects of an attempt go beyond what its work has to change.

Pure comparison of lists of effects; `taskloom.synthesis.replay.side_effects` knows which ones are to be
expected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from taskloom.evaluators_api.state.essential import Performance
from taskloom.evaluators_api.state.templates import filled, is_generated
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import is_open_document
from taskloom.taskgraph.records.side_effects import SideEffects

Place = tuple[str, ...]
"""Where an effect is, and what it is, with positions and generated names as `*`."""
_LASTING = frozenset({"file", "directory"})
_MOST_EXAMPLES = 10


def place(effect: Effect, parameters: Mapping[str, str]) -> Place:
    """Where an effect is when the same is done with `parameters`: those that it was computed with, or
    others."""
    path = filled(effect.container_template, parameters) if effect.container_template else effect.container
    container = "/".join(ANY if is_generated(part) else part for part in path.split("/"))
    address = (filled(part, parameters) for part in effect.address_template)
    return (effect.area, container, effect.kind, *address)


def expected_places(performances: Iterable[Performance]) -> Counter[Place]:
    """How often each place is changed by work that does what all `performances` do, one after the other."""
    return Counter(
        place(effect, parameters) for effects, parameters in performances for effect in lasting(effects)
    )


def side_effects(
    found: Iterable[Effect], expected: Counter[Place], housekeeping: Collection[Place] = ()
) -> SideEffects:
    """The lasting effects in `found` beyond those `expected`.

    Effects inside of something new or lost count with it. An effect at an expected place is no side effect,
    whatever its value: a wrong value is a wrong outcome.

    Args:
        found: effects of the attempt, outermost first, computed without parameters.
        expected: how often each place may change.
        housekeeping: places that applications also change on their own; any number of changes there is
            expected.
    """
    left = Counter(expected)
    counts: Counter[str] = Counter()
    examples: list[str] = []
    within: set[Place] = set()
    for effect in _outer(list(lasting(found))):
        where = place(effect, {})
        holders = [
            (effect.container, effect.kind, *effect.address[:depth]) for depth in range(len(effect.address))
        ]
        if any(holder in within for holder in holders):
            continue
        if effect.kind != "changed":
            within.add((effect.container, effect.kind, *effect.address))
        if left[where] > 0:
            left[where] -= 1
            continue
        if where in housekeeping:
            continue
        counts[_sort(effect)] += 1
        if len(examples) < _MOST_EXAMPLES:
            examples.append(effect.describe())
    return SideEffects(total=counts.total(), examples=tuple(examples), **counts)


def lasting(effects: Iterable[Effect]) -> Iterator[Effect]:
    """Effects on files and folders; clipboard, window, screen and what is only open are means, not
    possessions."""
    return (
        effect for effect in effects if effect.area in _LASTING and not is_open_document(effect.container)
    )


def _outer(effects: list[Effect]) -> Iterator[Effect]:
    """Without folders that came or went with the files in them."""
    moved = [effect for effect in effects if effect.area == "file" and not effect.address]
    for effect in effects:
        if effect.area == "directory" and any(
            other.kind == effect.kind and other.container.startswith(f"{effect.container}/")
            for other in moved
        ):
            continue
        yield effect


def _sort(effect: Effect) -> str:
    if effect.kind == "changed":
        return "values_changed"
    what = "records" if effect.address else "files"
    return f"{what}_{'added' if effect.kind == 'added' else 'lost'}"
