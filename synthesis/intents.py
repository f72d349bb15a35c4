"""Intents: a model finds goals in the pool, each with subtasks that can be linked (3.2, method section 5)."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from pydantic import Field

from taskloom.model_clients.errors import CallFailedError
from taskloom.prompts.inputs import (
    InstanceInPool,
    IntentExtractorInput,
    ResourceInView,
    ScenarioInView,
    SubtaskInPool,
)
from taskloom.prompts.rendering import template_hash
from taskloom.prompts.replies import ProposedEndProduct, ProposedIntent
from taskloom.resources.instances import Resource, provides
from taskloom.resources.record import Record
from taskloom.resources.scenarios import Scenario, scenario_of
from taskloom.synthesis.ports import Models
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.task import EndProduct, Intent, Rejection

STAGE = "intents"


class IntentSettings(Record):
    """Settings of intent extraction."""

    wanted: int = Field(default=40, ge=1)
    """Maximum intents per run."""
    per_call: int = Field(default=20, ge=1)
    """Maximum intents requested per call."""
    smallest_group: int = Field(default=2, ge=1)
    """Minimum subtasks per group."""
    largest_group: int = Field(default=14, ge=1)
    """Maximum subtasks per group."""


BARREN_CALLS = 2
"""Number of consecutive calls without a new intent after which no more are made."""


@dataclass(frozen=True, slots=True)
class PooledSubtask:
    """A verified subtask with its verified instances."""

    subtask: Subtask
    instances: tuple[BoundSubtask, ...]
    application_title: str
    """The name that people use for its application."""


@dataclass(frozen=True, slots=True)
class Intents:
    """The result of the extraction."""

    intents: tuple[Intent, ...]
    rejections: tuple[Rejection, ...]


async def extract_intents(
    pool: Sequence[PooledSubtask],
    *,
    models: Models,
    scenarios: Sequence[Scenario],
    settings: IntentSettings,
    known: Sequence[Intent] = (),
    provenance: Provenance,
) -> Intents:
    """New intents over `pool`, in addition to those `known`, until there are enough or calls bring no more.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    members = {
        item.subtask.subtask_id: item for item in sorted(pool, key=lambda item: item.subtask.subtask_id)
    }
    accepted = {_identity(intent.subtask_ids, intent.end_products): intent for intent in known}
    rejections: list[Rejection] = []
    new: list[Intent] = []
    barren, feedback = 0, tuple[str, ...]()
    attempt = 0
    while members and len(new) < settings.wanted and barren < BARREN_CALLS:
        inputs = _question(members, scenarios, settings, [*accepted.values()], len(new), feedback)
        try:
            reply = await models.ask(inputs, stage=STAGE, item_id="pool", attempt=attempt)
        except CallFailedError as error:
            rejections.append(_rejection(f"call {attempt + 1}", "no_usable_reply", str(error), provenance))
            break
        attempt += 1
        count_before, messages = len(new), list[str]()
        for proposal in reply.intents:
            if len(new) == settings.wanted:
                break
            problem = _problem(proposal, members, accepted, settings)
            if problem is not None:
                rejections.append(_rejection(proposal.goal, *problem, provenance))
                messages.append(f"{proposal.goal}: {problem[1]}")
                continue
            intent = _intent(proposal, members, scenarios, provenance)
            accepted[_identity(intent.subtask_ids, intent.end_products)] = intent
            new.append(intent)
        feedback = tuple(messages)
        barren = 0 if len(new) > count_before else barren + 1
    return Intents(tuple(new), tuple(rejections))


def linked_pairs(members: Sequence[PooledSubtask]) -> set[tuple[str, str]]:
    """Pairs of subtasks in which an instance of the first provides what an instance of the second reads."""
    return {
        (producer.subtask.subtask_id, consumer.subtask.subtask_id)
        for producer, consumer in permutations(members, 2)
        if any(_is_provided(needed, [producer]) for item in consumer.instances for needed in item.inputs)
    }


def _problem(
    proposal: ProposedIntent,
    members: Mapping[str, PooledSubtask],
    accepted: Mapping[frozenset[str], Intent],
    settings: IntentSettings,
) -> tuple[str, str] | None:
    group = list(dict.fromkeys(proposal.subtask_ids))
    unknown = [name for name in group if name not in members]
    if unknown:
        return "unknown_subtask", f"the pool has no {', '.join(unknown)}."
    for product in proposal.end_products:
        instance = _instance(product, members)
        if instance is None:
            values = ", ".join(f"{item.name}={item.value}" for item in product.parameters)
            return "no_such_product", f"the pool has no {product.subtask_id} with {values or 'no values'}."
        if product.subtask_id not in group:
            text = f"{product.subtask_id} is an end product and not among the subtasks."
            return "product_outside_group", text
        for needed in instance.inputs:
            if needed.slot is not None and not _is_provided(needed, map(members.__getitem__, group)):
                text = f"no subtask of the group makes the {needed.category} that {product.subtask_id} reads."
                return "product_out_of_reach", text
    if not proposal.goal.strip():
        return "no_goal", "the goal is empty."
    if not settings.smallest_group <= len(group) <= settings.largest_group:
        allowed = f"{settings.smallest_group} to {settings.largest_group}"
        return "group_size", f"the group has {len(group)} subtasks; allowed are {allowed}."
    if _identity(group, _end_products(proposal, members)) in accepted:
        return "duplicate", "another intent has the same group and the same end products."
    if any(intent.text.casefold() == proposal.goal.strip().casefold() for intent in accepted.values()):
        return "duplicate", "another intent has the same goal."
    linked = {name for pair in linked_pairs([members[name] for name in group]) for name in pair}
    if len(linked) < 2:
        return "not_linked", "no subtask of the group makes what another one reads."
    return None


def _identity(group: Sequence[str], products: Sequence[EndProduct]) -> frozenset[str]:
    """What distinguishes intents: their end products, or their groups if they name none."""
    return frozenset(item.instance_id for item in products) or frozenset(group)


def _instance(product: ProposedEndProduct, members: Mapping[str, PooledSubtask]) -> BoundSubtask | None:
    wanted = {item.name: item.value for item in product.parameters}
    member = members.get(product.subtask_id)
    return next((item for item in member.instances if item.parameters == wanted), None) if member else None


def _is_provided(needed: Resource, group: Iterable[PooledSubtask]) -> bool:
    outputs = (output for member in group for instance in member.instances for output in instance.outputs)
    return any(provides(output, needed) for output in outputs)


def _end_products(proposal: ProposedIntent, members: Mapping[str, PooledSubtask]) -> tuple[EndProduct, ...]:
    found = []
    for product in proposal.end_products:
        if instance := _instance(product, members):
            resource = next(iter((*instance.outputs, *instance.inputs)), None)
            fields = {"category": resource.category, "value": resource.value} if resource else {}
            found.append(EndProduct(instance_id=instance.instance_id, **fields))
    return tuple(found)


def _intent(
    proposal: ProposedIntent,
    members: Mapping[str, PooledSubtask],
    scenarios: Sequence[Scenario],
    provenance: Provenance,
) -> Intent:
    group = tuple(dict.fromkeys(proposal.subtask_ids))
    wanted = {item.subtask_id for item in proposal.end_products} or group
    categories = {members[name].subtask.application_category for name in wanted}
    scenario = proposal.scenario
    if scenario not in {item.name for item in scenarios}:
        scenario = scenario_of(sorted(categories), scenarios).name
    role = IntentExtractorInput.role
    digest = hashlib.sha256("\0".join((*sorted(group), proposal.goal.strip())).encode()).hexdigest()[:12]
    return Intent(
        intent_id=f"intent-{digest}",
        text=proposal.goal.strip(),
        subtask_ids=group,
        end_products=_end_products(proposal, members),
        scenario=scenario,
        provenance=provenance.model_copy(update={"prompt": role, "prompt_hash": template_hash(role)}),
    )


def _question(
    members: Mapping[str, PooledSubtask],
    scenarios: Sequence[Scenario],
    settings: IntentSettings,
    accepted: Sequence[Intent],
    found: int,
    feedback: tuple[str, ...],
) -> IntentExtractorInput:
    return IntentExtractorInput(
        scenarios=tuple(
            ScenarioInView(name=item.name, application_categories=item.application_categories)
            for item in scenarios
        ),
        subtasks=tuple(
            SubtaskInPool(
                subtask_id=name,
                application=member.application_title,
                application_category=member.subtask.application_category,
                instruction_template=member.subtask.instruction_template,
                inputs=resources_in_view(
                    dict.fromkeys(item for instance in member.instances for item in instance.inputs)
                ),
                outputs=resources_in_view(
                    dict.fromkeys(item for instance in member.instances for item in instance.outputs)
                ),
                instances=tuple(
                    InstanceInPool(
                        instruction=instance.instruction,
                        parameters=instance.parameters,
                        inputs=resources_in_view(instance.inputs),
                        outputs=resources_in_view(instance.outputs),
                    )
                    for instance in member.instances
                ),
            )
            for name, member in members.items()
        ),
        known_goals=tuple(intent.text for intent in accepted),
        wanted=min(settings.per_call, settings.wanted - found),
        smallest_group=settings.smallest_group,
        largest_group=settings.largest_group,
        feedback=feedback,
    )


def resources_in_view(resources: Iterable[Resource]) -> tuple[ResourceInView, ...]:
    """Resources as models are shown them."""
    return tuple(
        ResourceInView(category=item.category, value=item.value, kind=item.kind.value) for item in resources
    )


def _rejection(goal: str, reason: str, message: str, provenance: Provenance) -> Rejection:
    return Rejection(
        item_kind="intent",
        item_id=goal[:120],
        stage=STAGE,
        reason=reason,
        message=message,
        provenance=provenance,
    )
