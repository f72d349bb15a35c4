"""Intent extractor by rule: end products of the pool, asked for in the catalogue's phrases, with what they
need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.telling import Telling
from taskloom.prompts.inputs import (
    InstanceInPool,
    IntentExtractorInput,
    NumberedSubtask,
    ResourceInView,
    ScenarioInView,
    SubtaskInPool,
)
from taskloom.prompts.replies import IntentExtractorReply, NamedValue, ProposedEndProduct, ProposedIntent

_EVERYWHERE = ("file", "clipboard")
_BY_VALUE = ("file", "record")
_DEPTHS = (3, 2, 5, 4)
"""How far back from the end products a group reaches, in turn."""
_PAIRS_IN_TURN = 3
"""Every so manieth intent has two end products."""

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Bound:
    """A subtask of the pool with one of its parameter sets."""

    subtask: SubtaskInPool
    instance: InstanceInPool


def extract(view: IntentExtractorInput, attempt: int, book: Phrasebook) -> IntentExtractorReply:
    """Goals with one end product or with two of one source, as many as are wanted."""
    pool = [_Bound(subtask, instance) for subtask in view.subtasks for instance in subtask.instances]
    makers: dict[_Key, list[_Bound]] = defaultdict(list)
    for bound in pool:
        for resource in bound.instance.outputs:
            for key in _keys(bound.subtask, resource):
                makers[key].append(bound)
    goals = {goal.casefold() for goal in view.known_goals}
    intents: list[ProposedIntent] = []
    for turn, products in enumerate(
        _wanted(pool, makers, Random(f"intents {attempt} {len(view.known_goals)}"))
    ):
        if len(intents) >= view.wanted:
            break
        group = _group(products, makers, view.largest_group, _DEPTHS[turn % len(_DEPTHS)])
        goal = _goal(products, book)
        if len(group) < view.smallest_group or not goal or goal.casefold() in goals:
            continue
        goals.add(goal.casefold())
        intents.append(
            ProposedIntent(
                goal=goal,
                subtask_ids=group,
                end_products=[
                    ProposedEndProduct(
                        subtask_id=bound.subtask.subtask_id,
                        parameters=[
                            NamedValue(name=name, value=value)
                            for name, value in sorted(bound.instance.parameters.items())
                        ],
                    )
                    for bound in products
                ],
                scenario=_scenario(
                    {bound.subtask.application_category for bound in products}, view.scenarios
                ),
            )
        )
    return IntentExtractorReply(intents=intents)


def _wanted(
    pool: Sequence[_Bound], makers: Mapping[_Key, Sequence[_Bound]], random: Random
) -> Iterator[tuple[_Bound, ...]]:
    """End products worth wanting: what is made of something that another subtask makes; alone, or two of one
    source.

    What is pasted or drawn depends on what was copied or opened before, so these goals are told from the
    finished graph.
    """
    made = [
        bound
        for bound in pool
        if any(_sources(bound, makers)) and all(item.kind in _BY_VALUE for item in bound.instance.inputs)
    ]
    random.shuffle(made)
    readers: dict[_Key, list[_Bound]] = defaultdict(list)
    for bound in made:
        for resource in bound.instance.inputs:
            if resource.kind in _BY_VALUE:
                readers[_key(bound.subtask, resource)].append(bound)
    for turn, bound in enumerate(made):
        yield (bound,)
        if turn % _PAIRS_IN_TURN == 0:
            for resource in bound.instance.inputs:
                others = [
                    other
                    for other in readers[_key(bound.subtask, resource)]
                    if other.subtask.subtask_id != bound.subtask.subtask_id
                ]
                if others:
                    yield (bound, random.choice(others))
                    break


def _sources(bound: _Bound, makers: Mapping[_Key, Sequence[_Bound]]) -> Iterator[_Bound]:
    for resource in bound.instance.inputs:
        for maker in makers.get(_key(bound.subtask, resource), ()):
            if maker.subtask.subtask_id != bound.subtask.subtask_id:
                yield maker


def _group(
    products: Sequence[_Bound], makers: Mapping[_Key, Sequence[_Bound]], largest: int, depth: int
) -> list[str]:
    """The subtasks of the end products and of all that can make what they need, nearest first."""
    group = dict.fromkeys(bound.subtask.subtask_id for bound in products)
    border = list(products)
    for _ in range(depth):
        border = [maker for bound in border for maker in _sources(bound, makers)]
        for maker in border:
            if len(group) < largest:
                group.setdefault(maker.subtask.subtask_id)
    return list(group)


def _goal(products: Sequence[_Bound], book: Phrasebook) -> str:
    """What one asks for who wants these end products."""
    subtasks = [
        NumberedSubtask(
            number=number,
            application=bound.subtask.application,
            instruction=bound.instance.instruction,
            subtask_id=bound.subtask.subtask_id,
            parameters=bound.instance.parameters,
            reads=bound.instance.inputs,
            makes=bound.instance.outputs,
        )
        for number, bound in enumerate(products, 1)
    ]
    return Telling(book.tellers(subtasks), ()).goal()


def _scenario(categories: set[str], scenarios: Sequence[ScenarioInView]) -> str:
    for scenario in scenarios:
        if set(scenario.application_categories) == categories:
            return scenario.name
    return ""


def _key(subtask: SubtaskInPool, resource: ResourceInView) -> _Key:
    """What a reader needs; equal for a maker's."""
    place = "" if resource.kind in _EVERYWHERE else subtask.application
    return resource.category, place, resource.value


def _keys(subtask: SubtaskInPool, resource: ResourceInView) -> list[_Key]:
    """What a maker provides: a slot with a document also serves who asks for none."""
    category, place, value = _key(subtask, resource)
    if resource.kind in _BY_VALUE:
        return [(category, place, value)]
    return [(category, place, found) for found in dict.fromkeys((value, ""))]
