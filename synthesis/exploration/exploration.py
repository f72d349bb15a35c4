"""Exploration: a model proposes subtasks; those that the records allow are kept (B.1, method section 1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from taskloom.environments.errors import EnvironmentFailureError
from taskloom.evaluators_api.reference import checks_overview
from taskloom.model_clients.errors import CallFailedError
from taskloom.prompts.inputs import ExplorerInput, ResourceInView
from taskloom.prompts.replies import NamedValue, ProposedSubtask
from taskloom.prompts.shown_effects import SubtaskToDeclare
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.record import Record
from taskloom.synthesis.exploration.memory import (
    ExplorationMemory,
    found_records,
    screens_in_view,
    screens_of,
    with_records,
)
from taskloom.synthesis.exploration.order_of_sets import performable_first
from taskloom.synthesis.exploration.proposal_checks import (
    DECLARATION_REASONS,
    accepted_subtask,
    checked_categories,
    curated_subtasks,
)
from taskloom.synthesis.exploration.walking import Walk
from taskloom.synthesis.ports import Environments, Models
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.exploration import FoundRecord, ProposedCategory, SeenScreen
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory

STAGE = "exploration"


class ExplorationSettings(Record):
    """Settings of exploration."""

    subtasks_per_application: int = Field(default=60, ge=1)
    """Maximum subtasks per application: the curated ones come first; the explorer is asked for the rest."""
    core_only: bool = False
    """Whether to take only those curated subtasks that the catalogue marks as core; the explorer is still
    asked for the rest."""
    look_at_application: bool = True
    """Whether to start the application and show its first screen to the model."""
    walk_steps: int = Field(default=60, ge=0)
    """Maximum actions for visiting further screens, breadth first and keeping no changes, before a model is
    asked; with 0 it sees only the first. A later exploration of the same version continues from there."""
    declaration_votes: int = Field(default=3, ge=1)
    """How many independent declarations of a subtask's resources must agree; 1 accepts the first one."""
    declaration_rounds: int = Field(default=8, ge=1)
    """Maximum declarations requested, including the proposal."""
    revisions: int = Field(default=2, ge=0)
    """How often a proposal that recorded evidence contradicts may be proposed again."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of exploring one application."""

    application: Application
    subtasks: tuple[Subtask, ...]
    """Curated subtasks, and proposals that the records allow."""
    rejections: tuple[Rejection, ...]
    screens: tuple[SeenScreen, ...] = ()
    categories: tuple[ProposedCategory, ...] = ()
    """New resource categories that its proposals use."""
    records: tuple[FoundRecord, ...] = ()
    """Records that its proposals read and a reset provides, although the catalogue does not name them."""


_EMPTY_MEMORY = ExplorationMemory()
_MOST_STARTS = 3
"""Maximum starts of the application if it fails in a way that another try may avoid."""


async def explore_application(
    application: Application,
    *,
    models: Models,
    environments: Environments | None,
    categories: Mapping[str, ResourceCategory],
    settings: ExplorationSettings,
    memory: ExplorationMemory = _EMPTY_MEMORY,
    performed: int = 2,
    provenance: Provenance,
) -> Exploration:
    """The curated subtasks of `application`, and the well-formed ones that the explorer proposes in addition.

    Curated subtasks are taken from the catalogue as they are, up to the number wanted; the explorer is asked
    for the rest, and is shown what `memory` holds. The first `performed` parameter sets of a proposal will be
    performed. If the application does not start, or the model gives no usable answer, the application is
    rejected.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    curated, rejections = curated_subtasks(application, categories, provenance)
    curated = curated[: settings.subtasks_per_application]
    wanted = settings.subtasks_per_application - len(curated) - len(memory.taken)
    if settings.core_only:
        core = {f"{application.name}.{item.name}" for item in application.example_subtasks if item.core}
        curated = tuple(item for item in curated if item.subtask_id in core)
    observation, screens, start = None, tuple[SeenScreen, ...](), None
    if environments is not None and settings.look_at_application:
        budget = settings.walk_steps if wanted > 0 and not memory.walked else 0
        try:
            observation, screens, start = await _visit(application, environments, budget, memory, provenance)
        except EnvironmentFailureError as error:
            return _reject(application, "application_unavailable", str(error), provenance)
    if wanted <= 0:
        return Exploration(application, curated, tuple(rejections), screens)
    try:
        question = _question(
            application,
            categories,
            wanted,
            performed=performed,
            observation=observation,
            memory=memory,
            screens=(*memory.screens, *screens),
        )
        reply = await models.ask(question, stage=STAGE, item_id=application.name)
    except CallFailedError as error:
        failed = _reject(application, "no_usable_reply", str(error), provenance)
        return Exploration(application, curated, (*rejections, *failed.rejections), screens)
    new, refused_categories = checked_categories(reply, memory.taken, categories, application, provenance)
    rejections += refused_categories
    known_categories = {**categories, **{item.name: item.category for item in new}}
    ballots: dict[str, _Ballot] = {}
    for proposal in reply.subtasks:
        known = (*curated, *(ballot.proposed for ballot in ballots.values()))
        verdict, votes = _check_proposal(proposal, application, known_categories, known, memory, provenance)
        if isinstance(verdict, Rejection):
            rejections.append(verdict)
        else:
            ballots[verdict.subtask_id] = _Ballot(verdict, [verdict] * votes)
    agreed, disagreed = await _vote_on_declarations(ballots, application, models, known_categories, settings)
    records = found_records(agreed, application, known_categories, start, provenance) if start else ()
    fixtures = with_records(application, records).fixtures
    existing = {*((item.category, item.value) for item in fixtures), *memory.made}
    agreed = performable_first(agreed, known_categories, performed=performed, existing=existing)
    return Exploration(application, (*curated, *agreed), (*rejections, *disagreed), screens, new, records)


def _check_proposal(
    proposal: ProposedSubtask,
    application: Application,
    categories: Mapping[str, ResourceCategory],
    known: Sequence[Subtask],
    memory: ExplorationMemory,
    provenance: Provenance,
) -> tuple[Subtask | Rejection, int]:
    earlier = memory.taken
    outcome = accepted_subtask(proposal, application, categories, known, provenance, earlier=earlier)
    votes = 1
    if isinstance(outcome, Rejection) and outcome.reason in DECLARATION_REASONS:
        bare = proposal.model_copy(update={"inputs": [], "outputs": []})
        outcome = accepted_subtask(bare, application, categories, known, provenance, earlier=earlier)
        votes = 0
    rejected_before = memory.repeats_rejection(outcome) if isinstance(outcome, Subtask) else None
    if rejected_before is None:
        return outcome, votes
    message = (
        "was rejected before and is unchanged (`taskloom verify --again` tries it once more):"
        f" {rejected_before.reason}: {rejected_before.message}"
    )
    fields = {"stage": STAGE, "reason": "repeated", "message": message}
    provenance = provenance.model_copy(update={"stage": STAGE})
    return rejected_before.model_copy(update={**fields, "provenance": provenance}), votes


async def _visit(
    application: Application,
    environments: Environments,
    budget: int,
    memory: ExplorationMemory,
    provenance: Provenance,
) -> tuple[Observation, tuple[SeenScreen, ...], Evidence]:
    """The first screen, the further ones seen in a walk of `budget` actions, and the state after a reset."""
    attempts = _MOST_STARTS
    while True:
        attempts -= 1
        try:
            async with environments.lease(application.platform, {application.name}) as environment:
                if not budget:
                    return await environment.reset([application]), (), await environment.evidence()
                walk = Walk(environment, application, budget, list(memory.screens), provenance)
                return await walk.go(), tuple(walk.found), walk.start
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
    attempt: int,
    performance: Trajectory | None,
) -> Subtask | None:
    """The subtask proposed anew after evidence contradicted it; None if the model does not repair it.

    The model sees the screens of `performance`, the one that went wrong. The subtask keeps its name: a single
    proposal under another name is a renamed one; of several, none is taken.

    Raises:
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    name, template = subtask.template.name, subtask.instruction_template
    feedback = [f"`{name}` ({template}): {problem}; propose it again under this name" for problem in problems]
    try:
        question = _question(application, categories, 1, performance=performance, feedback=feedback)
        reply = await models.ask(question, stage=STAGE, item_id=application.name, attempt=attempt)
    except CallFailedError:
        return None
    named = [item for item in reply.subtasks if item.name == name] or reply.subtasks
    if len(named) != 1:
        return None
    proposal = named[0].model_copy(update={"name": name})
    outcome = accepted_subtask(proposal, application, categories, (), subtask.provenance)
    return outcome if isinstance(outcome, Subtask) else None


@dataclass(frozen=True, slots=True)
class _Ballot:
    proposed: Subtask
    votes: list[Subtask]
    """The subtask with the declarations of each valid answer."""

    def winner(self, needed: int) -> Subtask | None:
        """The subtask with the declarations that at least `needed` answers agree on."""
        declared = [(frozenset(vote.inputs), frozenset(vote.outputs)) for vote in self.votes]
        most = max(declared, key=declared.count, default=None)
        return self.votes[declared.index(most)] if most and declared.count(most) >= needed else None


async def _vote_on_declarations(
    ballots: Mapping[str, _Ballot],
    application: Application,
    models: Models,
    categories: Mapping[str, ResourceCategory],
    settings: ExplorationSettings,
) -> tuple[tuple[Subtask, ...], list[Rejection]]:
    agreed: dict[str, Subtask] = {}
    for attempt in range(1, settings.declaration_rounds + 1):
        for name, ballot in ballots.items():
            if winner := ballot.winner(settings.declaration_votes):
                agreed[name] = winner
        undecided = [ballot.proposed for name, ballot in ballots.items() if name not in agreed]
        if not undecided or attempt == settings.declaration_rounds:
            break
        try:
            question = _question(application, categories, len(undecided), to_declare=undecided)
            reply = await models.ask(question, stage=STAGE, item_id=application.name, attempt=attempt)
        except CallFailedError:
            continue
        for proposal in reply.subtasks:
            name = f"{application.name}.{proposal.name}"
            if name not in ballots or name in agreed:
                continue
            first = ballots[name].proposed
            restated = _with_declarations(first, proposal)
            outcome = accepted_subtask(restated, application, categories, (), first.provenance)
            if isinstance(outcome, Subtask):
                declared = {"inputs": outcome.inputs, "outputs": outcome.outputs}
                ballots[name].votes.append(first.model_copy(update=declared))
    rejections = [
        Rejection(
            item_kind="subtask",
            item_id=name,
            stage=STAGE,
            reason="declarations_disagree",
            message=(
                f"no {settings.declaration_votes} of {len(ballot.votes)} independent declarations of its"
                " resources agree."
            ),
            provenance=ballot.proposed.provenance,
        )
        for name, ballot in ballots.items()
        if name not in agreed
    ]
    return tuple(agreed[name] for name in ballots if name in agreed), rejections


def _with_declarations(first: Subtask, declared: ProposedSubtask) -> ProposedSubtask:
    """The subtask `first` with the inputs and outputs of another answer, which need not repeat the rest."""
    sets = [
        [NamedValue(name=name, value=value) for name, value in item.items()]
        for item in first.available_parameters
    ]
    fields = {"instruction_template": first.instruction_template, "fresh": list(first.fresh)}
    return declared.model_copy(update={**fields, "parameter_sets": sets})


def _question(
    application: Application,
    categories: Mapping[str, ResourceCategory],
    wanted: int,
    *,
    performed: int = 2,
    observation: Observation | None = None,
    memory: ExplorationMemory = _EMPTY_MEMORY,
    screens: Sequence[SeenScreen] = (),
    to_declare: Sequence[Subtask] = (),
    performance: Trajectory | None = None,
    feedback: Sequence[str] = (),
) -> ExplorerInput:
    controls = observation.controls if observation else ()
    screenshot = observation.screenshot if observation else None
    if performance is not None and performance.steps:
        screens = screens_of(performance, application)
        controls = performance.steps[0].observation_controls
        screenshot = performance.steps[0].observation_screenshot
    return ExplorerInput(
        application=application.name,
        title=application.title,
        application_category=application.category,
        description=application.description,
        manual=application.manual,
        resource_categories=tuple(categories.values()),
        checks=checks_overview(),
        fixtures=tuple(
            ResourceInView(category=item.category, value=item.value) for item in application.fixtures
        ),
        examples=tuple(example.template for example in application.example_subtasks),
        performed=performed,
        verified=memory.known_subtasks(),
        undecided=memory.undecided_subtasks(),
        rejected=memory.rejected_subtasks(),
        wishes=memory.wishes,
        screens=screens_in_view(screens),
        controls=controls,
        screenshot=screenshot,
        wanted=wanted,
        to_declare=tuple(SubtaskToDeclare.of(item.template) for item in to_declare),
        feedback=tuple(feedback),
    )


def _reject(application: Application, reason: str, message: str, provenance: Provenance) -> Exploration:
    rejection = Rejection(
        item_kind="application",
        item_id=application.name,
        stage=STAGE,
        reason=reason,
        message=message,
        provenance=provenance,
    )
    return Exploration(application, (), (rejection,))
