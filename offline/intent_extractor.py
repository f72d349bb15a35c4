"""Intent extractor by rule: end products of the pool in the catalogue's phrases, with what they need."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.summarizer import InstructionWriter
from taskloom.prompts.inputs import (
    InstanceInPool,
    IntentExtractorInput,
    NumberedSubtask,
    ResourceInView,
    SubtaskInPool,
)
from taskloom.prompts.replies import IntentExtractorReply, NamedValue, ProposedEndProduct, ProposedIntent

_SHARED_KINDS = ("file", "clipboard")
_BY_VALUE = ("file", "record")

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _PoolInstance:
    subtask: SubtaskInPool
    instance: InstanceInPool


_ProducersByKey = Mapping[_Key, Sequence[_PoolInstance]]


def extract(view: IntentExtractorInput, attempt: int, book: Phrasebook) -> IntentExtractorReply:
    """As many goals as wanted, with one end product each, which is made from something that another subtask
    makes.

    Results of pasting or drawing depend on what was copied or opened before, so their goals are worded from
    the finished graph.
    """
    pool = [_PoolInstance(subtask, instance) for subtask in view.subtasks for instance in subtask.instances]
    producers: dict[_Key, list[_PoolInstance]] = defaultdict(list)
    for entry in pool:
        for resource in entry.instance.outputs:
            for key in _output_keys(entry.subtask, resource):
                producers[key].append(entry)
    ends = [
        entry
        for entry in pool
        if _producers_for(entry, producers) and all(item.kind in _BY_VALUE for item in entry.instance.inputs)
    ]
    Random(f"intents {attempt} {len(view.known_goals)}").shuffle(ends)
    goals = {goal.casefold() for goal in view.known_goals}
    intents: list[ProposedIntent] = []
    for end in ends:
        if len(intents) >= view.wanted:
            break
        group = _group(end, producers, view.largest_group)
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


def _producers_for(entry: _PoolInstance, producers: _ProducersByKey) -> list[_PoolInstance]:
    keys = [_input_key(entry.subtask, resource) for resource in entry.instance.inputs]
    found = [producer for key in keys for producer in producers.get(key, ())]
    return [producer for producer in found if producer.subtask.subtask_id != entry.subtask.subtask_id]


def _group(end: _PoolInstance, producers: _ProducersByKey, largest: int) -> list[str]:
    group = {end.subtask.subtask_id: None}
    border = [end]
    while border and len(group) < largest:
        border = [producer for entry in border for producer in _producers_for(entry, producers)]
        border = [producer for producer in border if producer.subtask.subtask_id not in group]
        group |= dict.fromkeys(producer.subtask.subtask_id for producer in border)
    return list(group)[:largest]


def _goal(end: _PoolInstance, book: Phrasebook) -> str:
    subtask = NumberedSubtask(
        number=1,
        application=end.subtask.application,
        instruction=end.instance.instruction,
        subtask_id=end.subtask.subtask_id,
        parameters=end.instance.parameters,
        reads=end.instance.inputs,
        makes=end.instance.outputs,
    )
    return InstructionWriter(book.phrased([subtask]), ()).goal()


def _input_key(subtask: SubtaskInPool, resource: ResourceInView) -> _Key:
    application = "" if resource.kind in _SHARED_KINDS else subtask.application
    return resource.category, application, resource.value


def _output_keys(subtask: SubtaskInPool, resource: ResourceInView) -> list[_Key]:
    """Keys that an output serves: a slot with a document also serves an input without one."""
    category, application, value = _input_key(subtask, resource)
    if resource.kind in _BY_VALUE:
        return [(category, application, value)]
    return [(category, application, provided) for provided in dict.fromkeys((value, ""))]
