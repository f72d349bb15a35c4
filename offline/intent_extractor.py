"""Intent extractor by rule: end products of the pool in the catalogue's phrases, with what they need."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.summarizer import Telling
from taskloom.prompts.inputs import (
    InstanceInPool,
    IntentExtractorInput,
    NumberedSubtask,
    ResourceInView,
    SubtaskInPool,
)
from taskloom.prompts.replies import IntentExtractorReply, NamedValue, ProposedEndProduct, ProposedIntent

_EVERYWHERE = ("file", "clipboard")
_BY_VALUE = ("file", "record")

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Bound:
    subtask: SubtaskInPool
    instance: InstanceInPool


_Makers = Mapping[_Key, Sequence[_Bound]]


def extract(view: IntentExtractorInput, attempt: int, book: Phrasebook) -> IntentExtractorReply:
    """Goals with one end product each, as many as are wanted: what is made of something that another subtask
    makes.

    What is pasted or drawn depends on what was copied or opened before, so these goals are told from the
    finished graph.
    """
    pool = [_Bound(subtask, instance) for subtask in view.subtasks for instance in subtask.instances]
    makers: dict[_Key, list[_Bound]] = defaultdict(list)
    for bound in pool:
        for resource in bound.instance.outputs:
            for key in _keys(bound.subtask, resource):
                makers[key].append(bound)
    ends = [
        bound
        for bound in pool
        if _sources(bound, makers) and all(item.kind in _BY_VALUE for item in bound.instance.inputs)
    ]
    Random(f"intents {attempt} {len(view.known_goals)}").shuffle(ends)
    goals = {goal.casefold() for goal in view.known_goals}
    intents: list[ProposedIntent] = []
    for end in ends:
        if len(intents) >= view.wanted:
            break
        group = _group(end, makers, view.largest_group)
        goal = _goal(end, book)
        if len(group) < view.smallest_group or not goal or goal.casefold() in goals:
            continue
        goals.add(goal.casefold())
        values = [
            NamedValue(name=name, value=value) for name, value in sorted(end.instance.parameters.items())
        ]
        product = ProposedEndProduct(subtask_id=end.subtask.subtask_id, parameters=values)
        intents.append(ProposedIntent(goal=goal, subtask_ids=group, end_products=[product]))
    return IntentExtractorReply(intents=intents)


def _sources(bound: _Bound, makers: _Makers) -> list[_Bound]:
    keys = [_key(bound.subtask, resource) for resource in bound.instance.inputs]
    found = [maker for key in keys for maker in makers.get(key, ())]
    return [maker for maker in found if maker.subtask.subtask_id != bound.subtask.subtask_id]


def _group(end: _Bound, makers: _Makers, largest: int) -> list[str]:
    group = {end.subtask.subtask_id: None}
    border = [end]
    while border and len(group) < largest:
        border = [maker for bound in border for maker in _sources(bound, makers)]
        border = [maker for maker in border if maker.subtask.subtask_id not in group]
        group |= dict.fromkeys(maker.subtask.subtask_id for maker in border)
    return list(group)[:largest]


def _goal(end: _Bound, book: Phrasebook) -> str:
    subtask = NumberedSubtask(
        number=1,
        application=end.subtask.application,
        instruction=end.instance.instruction,
        subtask_id=end.subtask.subtask_id,
        parameters=end.instance.parameters,
        reads=end.instance.inputs,
        makes=end.instance.outputs,
    )
    return Telling(book.tellers([subtask]), ()).goal()


def _key(subtask: SubtaskInPool, resource: ResourceInView) -> _Key:
    place = "" if resource.kind in _EVERYWHERE else subtask.application
    return resource.category, place, resource.value


def _keys(subtask: SubtaskInPool, resource: ResourceInView) -> list[_Key]:
    """What a maker provides: a slot with a document also serves who asks for none."""
    category, place, value = _key(subtask, resource)
    if resource.kind in _BY_VALUE:
        return [(category, place, value)]
    return [(category, place, found) for found in dict.fromkeys((value, ""))]
