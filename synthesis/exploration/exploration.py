"""Exploration: a model proposes subtasks of an application; what the records allow is kept (B.1, method section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from environments.errors import EnvironmentFailureError
from model_clients.errors import CallFailedError
from prompts.inputs import ControlInView, ExplorerInput, ResourceInView, SubtaskToDeclare
from prompts.replies import ExplorerReply
from resources.applications import Application, ResourceDeclaration
from resources.categories import ResourceCategory
from resources.record import Record
from synthesis.exploration.proposal_checks import DECLARATION_REASONS, accepted_subtask, curated_subtasks
from synthesis.ports import Environments, Models
from taskgraph.records.interaction import Observation
from taskgraph.records.provenance import Provenance
from taskgraph.records.subtask import Subtask
from taskgraph.records.task import Rejection

STAGE = "exploration"


class ExplorationSettings(Record):
    """Settings of exploration."""

    subtasks_per_application: int = Field(default=60, ge=1)
    """Most subtasks of one application: the curated ones come first, and the explorer is asked for the rest."""
    look_at_application: bool = True
    """Whether to start the application and show its first screen to the model."""
    environment_attempts: int = Field(default=3, ge=1)
    """How often the application is started when it fails in a way that another try may not meet."""
    declaration_votes: int = Field(default=3, ge=1)
    """How many independent declarations of a subtask's resources must agree; 1 takes the first as it is."""
    declaration_rounds: int = Field(default=8, ge=1)
    """Most declarations asked for, the proposal included."""
    revisions: int = Field(default=2, ge=0)
    """How often a proposal that recorded evidence contradicts may be proposed again."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """What the exploration of one application brought."""

    application: Application
    """The application."""
    subtasks: tuple[Subtask, ...]
    """Curated subtasks, and proposals that the records allow."""
    rejections: tuple[Rejection, ...]
    """The others, or the application itself, with the reason."""


async def explore_application(
    application: Application,
    *,
    models: Models,
    environments: Environments | None,
    categories: Mapping[str, ResourceCategory],
    settings: ExplorationSettings,
    provenance: Provenance,
) -> Exploration:
    """The curated subtasks of `application`, and what the explorer proposes beside them, as far as it is well formed.

    Curated subtasks enter as the catalogue has them, up to the most that are wanted; the explorer is asked for the rest. An
    application that does not come up, or a model that gives no usable answer, is a rejection of the application.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    observation = None
    if environments is not None and settings.look_at_application:
        try:
            observation = await _first_screen(application, environments, settings.environment_attempts)
        except EnvironmentFailureError as error:
            return _rejected(application, "application_unavailable", str(error), provenance)
    curated, rejections = curated_subtasks(application, categories, provenance)
    curated = curated[: settings.subtasks_per_application]
    if len(curated) == settings.subtasks_per_application:
        return Exploration(application, curated, tuple(rejections))
    try:
        reply = await _ask(application, models, categories, settings, observation=observation)
    except CallFailedError as error:
        failed = _rejected(application, "no_usable_reply", str(error), provenance)
        return Exploration(application, curated, (*rejections, *failed.rejections))
    subtasks: dict[str, Subtask] = {}
    ballots: dict[str, list[Subtask]] = {}
    for proposal in reply.subtasks:
        known = (*curated, *subtasks.values())
        found = accepted_subtask(proposal, application, categories, known, provenance)
        votes = 1
        if isinstance(found, Rejection) and found.reason in DECLARATION_REASONS:
            bare = proposal.model_copy(update={"inputs": [], "outputs": []})
            found, votes = accepted_subtask(bare, application, categories, known, provenance), 0
        if isinstance(found, Rejection):
            rejections.append(found)
        else:
            subtasks[found.subtask_id] = found
            ballots[found.subtask_id] = [found] * votes
    agreed, disagreed = await _agree(subtasks, ballots, application, models, categories, settings)
    return Exploration(application, (*curated, *agreed), (*rejections, *disagreed))


async def _first_screen(application: Application, environments: Environments, attempts: int) -> Observation:
    """The screen of the application after its start, which is tried again where that can help."""
    while True:
        attempts -= 1
        try:
            async with environments.lease(application.platform) as environment:
                return await environment.reset([application])
        except EnvironmentFailureError as error:
            if not error.transient or not attempts:
                raise


async def propose_again(
    subtask: Subtask,
    application: Application,
    problems: Sequence[str],
    *,
    models: Models,
    categories: Mapping[str, ResourceCategory],
    settings: ExplorationSettings,
    attempt: int,
) -> Subtask | None:
    """The subtask proposed anew after evidence contradicted it, or None when the model does not repair it.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    name = subtask.template.name
    feedback = [f"{name}: {problem}" for problem in problems]
    try:
        reply = await _ask(application, models, categories, settings, feedback=feedback, attempt=attempt)
    except CallFailedError:
        return None
    for proposal in reply.subtasks:
        if proposal.name == name:
            found = accepted_subtask(proposal, application, categories, (), subtask.provenance)
            return found if isinstance(found, Subtask) else None
    return None


async def _agree(
    proposed: Mapping[str, Subtask],
    votes: Mapping[str, list[Subtask]],
    application: Application,
    models: Models,
    categories: Mapping[str, ResourceCategory],
    settings: ExplorationSettings,
) -> tuple[tuple[Subtask, ...], list[Rejection]]:
    """The subtasks with the declarations that enough independent answers agree on, and those without."""
    agreed: dict[str, Subtask] = {}
    for attempt in range(1, settings.declaration_rounds + 1):
        for name, ballots in votes.items():
            winner = _winner(ballots, settings.declaration_votes)
            if winner is not None:
                agreed[name] = winner
        undecided = [subtask for name, subtask in proposed.items() if name not in agreed]
        if not undecided or attempt == settings.declaration_rounds:
            break
        try:
            reply = await _ask(
                application, models, categories, settings, to_declare=undecided, attempt=attempt
            )
        except CallFailedError:
            continue
        for proposal in reply.subtasks:
            first = proposed.get(f"{application.name}.{proposal.name}")
            if first is None or first.subtask_id in agreed:
                continue
            found = accepted_subtask(proposal, application, categories, (), first.provenance)
            if isinstance(found, Subtask):
                votes[first.subtask_id].append(
                    first.model_copy(update={"inputs": found.inputs, "outputs": found.outputs})
                )
    rejections = [
        Rejection(
            item_kind="subtask",
            item_id=subtask.subtask_id,
            stage=STAGE,
            reason="declarations_disagree",
            message=f"no {settings.declaration_votes} of {len(votes[subtask.subtask_id])} independent declarations"
            " of its resources agree.",
            provenance=subtask.provenance,
        )
        for subtask in proposed.values()
        if subtask.subtask_id not in agreed
    ]
    return tuple(agreed[name] for name in votes if name in agreed), rejections


def _winner(ballots: Sequence[Subtask], needed: int) -> Subtask | None:
    groups: dict[tuple[frozenset[ResourceDeclaration], ...], list[Subtask]] = {}
    for ballot in ballots:
        groups.setdefault((frozenset(ballot.inputs), frozenset(ballot.outputs)), []).append(ballot)
    largest = max(groups.values(), key=len, default=[])
    return largest[0] if len(largest) >= needed else None


async def _ask(
    application: Application,
    models: Models,
    categories: Mapping[str, ResourceCategory],
    settings: ExplorationSettings,
    *,
    observation: Observation | None = None,
    to_declare: Sequence[Subtask] = (),
    feedback: Sequence[str] = (),
    attempt: int = 0,
) -> ExplorerReply:
    examples = tuple(example.template for example in application.example_subtasks)
    question = ExplorerInput(
        application=application.name,
        title=application.title,
        application_category=application.category,
        description=application.description,
        manual=application.manual,
        resource_categories=tuple(categories.values()),
        fixtures=tuple(
            ResourceInView(category=item.category, value=item.value) for item in application.fixtures
        ),
        examples=examples,
        controls=controls_in_view(observation) if observation else (),
        screenshot=observation.screenshot if observation else None,
        wanted=max(1, settings.subtasks_per_application - len(examples)),
        to_declare=tuple(SubtaskToDeclare.of(item.template) for item in to_declare),
        feedback=tuple(feedback),
    )
    return await models.ask(question, stage=STAGE, item_id=application.name, attempt=attempt)


def controls_in_view(observation: Observation) -> tuple[ControlInView, ...]:
    """The controls of a screen, as models are shown them."""
    return tuple(
        ControlInView(
            label=control.label,
            control_text=control.text,
            control_type=control.control_type,
            parent_control_text=control.parent_text,
            parent_control_type=control.parent_type,
            row=control.row,
            section=control.section,
            value=control.value,
            checked=control.checked,
            disabled=control.disabled,
            focused=control.focused,
            application=control.application,
        )
        for control in observation.controls
    )


def _rejected(application: Application, reason: str, message: str, provenance: Provenance) -> Exploration:
    rejection = Rejection(
        item_kind="application",
        item_id=application.name,
        stage=STAGE,
        reason=reason,
        message=message,
        provenance=provenance,
    )
    return Exploration(application, (), (rejection,))
