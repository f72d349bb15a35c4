"""What an exploration knows of earlier ones of the same application, so that it resumes where they ended."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from taskloom.evaluators_api.evidence.starting_state import mentions
from taskloom.prompts.shown_effects import KnownSubtask, RejectedSubtask, ResourceInView, ScreenInView
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.synthesis.exploration.walking import only_new
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.exploration import FoundRecord, SeenScreen
from taskloom.taskgraph.records.grounding import name_query
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory

LASTING_REASONS = frozenset(
    {"not_reproducible", "not_verified", "wrong_resource", "duplicate", "declarations_disagree"}
)
"""Reasons for which the same proposal would be rejected again."""

_MOST_REJECTED = 30
_LONGEST_REASON = 240
_MOST_SCREENS = 24


@dataclass(frozen=True, slots=True)
class ExplorationMemory:
    """What earlier runs learned about one application."""

    verified: tuple[Subtask, ...] = ()
    """Verified subtasks in addition to the curated ones."""
    undecided: tuple[Subtask, ...] = ()
    """Proposals of runs that ended before they were verified or rejected; the next run verifies them."""
    rejected: tuple[Rejection, ...] = ()
    """Rejected proposals, newest last."""
    screens: tuple[SeenScreen, ...] = ()
    walked: bool = False
    """Whether this run had already walked before it was interrupted."""
    wishes: tuple[str, ...] = ()
    """What composition lacked, in words."""

    @property
    def taken(self) -> tuple[Subtask, ...]:
        """What need not be proposed again: verified subtasks, and those that are about to be verified."""
        return (*self.verified, *self.undecided)

    @property
    def made(self) -> frozenset[tuple[str, str]]:
        """What the verified subtasks make, by category and value."""
        return frozenset(
            (item.category, item.value) for subtask in self.verified for item in _products(subtask)
        )

    def known_subtasks(self) -> tuple[KnownSubtask, ...]:
        """The verified subtasks as models are shown them."""
        return tuple(_known_subtask(item, _products(item)) for item in self.verified)

    def undecided_subtasks(self) -> tuple[KnownSubtask, ...]:
        """The undecided proposals as models are shown them."""
        return tuple(map(_known_subtask, self.undecided))

    def rejected_subtasks(self) -> tuple[RejectedSubtask, ...]:
        """The rejected proposals as models are shown them, each once, with the latest reason."""
        latest = {item.item_id: item for item in self.rejected}
        return tuple(
            RejectedSubtask(
                name=item.item_id.partition(".")[2],
                instruction_template=item.details.get("instruction_template", ""),
                reason=f"{item.reason}: {_shorten(item.message)}",
            )
            for item in list(latest.values())[-_MOST_REJECTED:]
        )

    def repeats_rejection(self, subtask: Subtask) -> Rejection | None:
        """The earlier rejection that `subtask`, unchanged and of the same name, would meet again."""
        own = json.dumps(subtask.available_parameters)
        matches = (
            item
            for item in self.rejected
            if item.item_id == subtask.subtask_id
            and item.reason in LASTING_REASONS
            and item.details.get("instruction_template") == subtask.instruction_template
            and _sorted_sets(item.details.get("parameter_sets", own)) == _sorted_sets(own)
        )
        return next(matches, None)


def screens_in_view(screens: Sequence[SeenScreen]) -> tuple[ScreenInView, ...]:
    """The screens beyond the first as models are shown them: how to get there, and what is new on them.

    Their order depends only on the screens, so that an interrupted run asks the same question again.
    """
    shown: list[ScreenInView] = []
    shown_before: list[SeenScreen] = []
    for screen in sorted(screens, key=lambda item: (len(item.path), item.screen_id)):
        if screen.outcome != "new":
            continue
        new_controls = only_new(screen, shown_before)
        shown_before.append(screen)
        if screen.path and new_controls and len(shown) < _MOST_SCREENS:
            shown.append(
                ScreenInView(
                    path=tuple(name_query(query) for query in screen.path),
                    window_title=screen.window_title,
                    controls=new_controls,
                )
            )
    return tuple(shown)


def screens_of(trajectory: Trajectory, application: Application) -> tuple[SeenScreen, ...]:
    """The screens that a performance saw, its final one last; the first has an empty path."""
    steps = trajectory.steps
    path = [step.target if not step.problem else None for step in steps]
    shown = [*(step.observation_controls for step in steps), trajectory.final_evidence.controls]
    return tuple(
        SeenScreen(
            screen_id=f"{trajectory.trajectory_id}:{number:04}",
            application=application.name,
            version=application.version,
            path=tuple(target for target in path[:number] if target is not None),
            outcome="new",
            controls=controls,
        )
        for number, controls in enumerate(shown)
    )


def _known_subtask(subtask: Subtask, makes: tuple[ResourceInView, ...] = ()) -> KnownSubtask:
    name = subtask.template.name
    return KnownSubtask(name=name, instruction_template=subtask.instruction_template, makes=makes)


def _products(subtask: Subtask) -> tuple[ResourceInView, ...]:
    products = (
        ResourceInView(category=output.category, value=values[output.parameter])
        for values in subtask.available_parameters
        for output in subtask.outputs
        if output.parameter
    )
    return tuple(dict.fromkeys(products))


def _sorted_sets(text: str) -> list[str]:
    """Parameter sets in a canonical order: they may have been reordered since."""
    return sorted(json.dumps(item, sort_keys=True) for item in json.loads(text))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}…"


def found_records(
    subtasks: Iterable[Subtask],
    application: Application,
    categories: Mapping[str, ResourceCategory],
    start: Evidence,
    provenance: Provenance,
) -> tuple[FoundRecord, ...]:
    """Records among `subtasks`' inputs that the state or screen after a reset mentions, each once.

    Values that a subtask gives to something new do not count, even if a longer text mentions them, nor do
    those that the catalogue names.
    """
    bound = [
        (subtask.bind(parameters, categories), {parameters[name] for name in subtask.fresh})
        for subtask in subtasks
        for parameters in subtask.available_parameters
    ]
    made_new = {item for node, fresh in bound for item in node.outputs if item.value in fresh}
    known = {*fixtures_of(application, categories), *made_new}
    found: dict[str, FoundRecord] = {}
    for node, fresh in bound:
        for item in node.inputs:
            is_known = item in known or not item.value or item.value in fresh
            if item.kind is ResourceKind.RECORD and not is_known and mentions(start, item.value):
                key = "\0".join((application.name, application.version, item.category, item.value))
                name = hashlib.sha256(key.encode()).hexdigest()[:16]
                found[name] = FoundRecord(
                    record_id=name,
                    application=application.name,
                    version=application.version,
                    category=item.category,
                    value=item.value,
                    provenance=provenance,
                )
    return tuple(found.values())


def with_records(application: Application, records: Iterable[FoundRecord]) -> Application:
    """The application with the records as fixtures; those of another version are left out."""
    named = {(item.category, item.value) for item in application.fixtures}
    added = {
        (item.category, item.value): item.fixture
        for item in records
        if (item.application, item.version) == (application.name, application.version)
        and (item.category, item.value) not in named
    }
    return application.model_copy(update={"fixtures": (*application.fixtures, *added.values())})
