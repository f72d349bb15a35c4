"""Looking beyond the first screen, breadth first and without a model; changes are not kept.

The environment is reset whenever a click changes stored data.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError, EnvironmentFailureError
from taskloom.environments.starting_place import ENVIRONMENT, go_to_starting_place
from taskloom.evaluators_api.text_matching import has_phrase
from taskloom.resources.applications import Application, ControlQuery
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.exploration import SeenScreen
from taskloom.taskgraph.records.grounding import describe_control, find_control
from taskloom.taskgraph.records.interaction import ClickInput, Control, Observation
from taskloom.taskgraph.records.provenance import Provenance

_OPENING_TYPES = ("MenuItem", "TabItem", "Hyperlink", "Button", "SplitButton")
"""Types of controls that may open something, the likeliest first."""
_MOST_PER_SCREEN = 30
_DEEPEST = 3
_NUMBER = re.compile(r"\d+")
_LONGEST_TEXT = 60
_QUOTED = re.compile(r'"([^"\n]{2,60})"|\u201c([^\u201d\n]{2,60})\u201d|`([^`\n]{2,60})`')


@dataclass(slots=True)
class Walk:
    """One walk through an application, continuing from what earlier ones saw."""

    environment: Environment
    """Where it takes place; whoever leases it next resets it."""
    application: Application
    budget: int
    seen: list[SeenScreen]
    """Screens seen so far, in order."""
    provenance: Provenance
    found: list[SeenScreen] = field(default_factory=list)
    manual_first: bool = False
    """Whether controls that the manual names are opened before all others."""
    start: Evidence = field(init=False)
    """The state after the last reset."""
    _current: Observation = field(init=False)

    async def go(self) -> Observation:
        """Walk until the budget is used up or nothing is left to open; returns the first screen.

        Raises:
            EnvironmentFailureError: the application does not start; a later failure only ends the walk.
        """
        first = await self._reset()
        if all(screen.path for screen in self.seen):
            self._record((), "new", first)
        try:
            while self.budget > 0 and (path := next(self._untried(), None)) is not None:
                await self._open(path)
        except EnvironmentFailureError:
            pass  # what was seen so far is worth keeping
        return first

    def _untried(self) -> Iterator[tuple[ControlQuery, ...]]:
        tried = {screen.path for screen in self.seen}
        for screen in sorted(self.seen, key=lambda item: len(item.path)):
            if screen.outcome == "new" and len(screen.path) < _DEEPEST:
                controls = worth_opening(screen.controls)
                if self.manual_first:
                    controls.sort(key=lambda item: not has_phrase(item.text, self.application.manual))
                for control in controls:
                    path = (*screen.path, describe_control(control, screen.controls))
                    if path not in tried:
                        yield path

    async def _open(self, path: tuple[ControlQuery, ...]) -> None:
        observation = await self._first_page()
        for query in path:
            control = find_control(query, observation.controls)
            if control is None or control.disabled:
                return self._record(path, "gone", observation)
            self.budget -= 1
            try:
                observation = await self.environment.act(ClickInput(control_label=control.label))
            except ActionInvalidError:
                self._current = await self.environment.observe()
                return self._record(path, "gone", observation)
        self._current = observation
        known = {_appearance(screen.controls) for screen in self.seen if screen.outcome == "new"}
        is_own = observation.active_application == self.application.name
        is_new = is_own and _appearance(observation.controls) not in known
        self._record(path, "new" if is_new else "known", observation)
        if _stored_files(await self.environment.evidence()) != _stored_files(self.start):
            await self._reset()

    async def _reset(self) -> Observation:
        self._current = await self.environment.reset([self.application])
        self.start = await self.environment.evidence()
        return self._current

    async def _first_page(self) -> Observation:
        recording = await go_to_starting_place(
            self.environment, self.application.name, self.application.title, self._current, first_page=True
        )
        self.budget -= 1
        return recording.observation if recording.termination == "finished" else await self._reset()

    def _record(
        self,
        path: tuple[ControlQuery, ...],
        outcome: Literal["new", "known", "gone"],
        observation: Observation,
    ) -> None:
        name, version = self.application.name, self.application.version
        key = [name, version, *(query.model_dump(mode="json") for query in path)]
        screen = SeenScreen(
            screen_id=hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16],
            application=name,
            version=version,
            path=path,
            outcome=outcome,
            window_title=observation.window_title,
            url=observation.url,
            controls=observation.controls if outcome == "new" else (),
            provenance=self.provenance,
        )
        self.seen.append(screen)
        self.found.append(screen)


def named_in(manual: str) -> tuple[str, ...]:
    """What a manual quotes from the screen: its texts in quotation marks, without sentences.

    >>> named_in('"Stop All" acts on `mailer`. Save it with \u201cSave\u201d, or press "Enter to go on.".')
    ('Stop All', 'mailer', 'Save')
    """
    found = (next(filter(None, match.groups())) for match in _QUOTED.finditer(manual))
    return tuple(dict.fromkeys(text for text in found if not text.endswith((".", "?", "!"))))


def never_shown(names: Iterable[str], screens: Sequence[SeenScreen]) -> tuple[str, ...]:
    """Those of `names` that no control of any screen shows, even as a part of its text or content."""
    shown = [
        text for screen in screens for item in screen.controls for text in (item.text, item.value) if text
    ]
    return tuple(name for name in names if not any(has_phrase(name, text) for text in shown))


def worth_opening(controls: Sequence[Control]) -> list[Control]:
    """Controls that may lead to another screen, the likeliest first; only one of each repeated in rows."""
    chosen: dict[tuple[str, str], Control] = {}
    for control in controls:
        if control.application != ENVIRONMENT and control.control_type in _OPENING_TYPES:
            text = control.text.strip()
            if text and len(text) <= _LONGEST_TEXT and not control.disabled:
                chosen.setdefault((control.control_type, text), control)
    ranked = sorted(chosen.values(), key=lambda item: _OPENING_TYPES.index(item.control_type))
    return ranked[:_MOST_PER_SCREEN]


def only_new(screen: SeenScreen, screens: Iterable[SeenScreen]) -> tuple[Control, ...]:
    """The controls of a screen that none of `screens` shows."""
    shown = {(item.control_type, item.text, item.row) for other in screens for item in other.controls}
    return tuple(item for item in screen.controls if (item.control_type, item.text, item.row) not in shown)


def _appearance(controls: Iterable[Control]) -> frozenset[tuple[str, str]]:
    """What a screen looks like, without the numbers and contents that it happens to show."""
    return frozenset(
        (item.control_type, _NUMBER.sub("0", item.text))
        for item in controls
        if item.application != ENVIRONMENT
    )


def _stored_files(evidence: Evidence) -> frozenset[tuple[str, str]]:
    return frozenset((file.path, file.sha256) for file in evidence.files)
