"""The environment protocol, as in Gymnasium: reset, observe, act, and evidence beside it; and controls as the
script in a page, or the server in a machine, tells them."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, runtime_checkable

from taskloom.resources.applications import Application
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, Control, Observation, Rectangle


class Environment(Protocol):
    """One isolated place where an agent acts.

    Several environments run concurrently; each has its own sandbox home and clipboard. Nothing is left
    running or on disk after `close`, a crash of the caller, or Ctrl-C.
    """

    platform: str
    """Name of the platform module."""
    simulated: bool
    """Whether applications are only simulated."""

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Return to the clean state of `applications` (the first in front) with exactly their fixtures.

        File fixtures whose paths are in `without` or below are left out: what is to be created itself, even
        where applications also have it as fixtures for others to read.

        Raises:
            ApplicationUnavailableError: one of them is not installed.
            ApplicationStartFailedError: one of them did not come up in time.
        """
        ...

    async def observe(self) -> Observation:
        """The screen and its controls now, once the page has settled."""
        ...

    async def act(self, action: Action) -> Observation:
        """Carry out `action` on the last observation, wait until the page settles and observe.

        Raises:
            ActionInvalidError: the control label is unknown, or the keys do not parse.
            EnvironmentBrokenError: the browser or application died.
        """
        ...

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application of the last reset in front, as a click on the task bar does."""
        ...

    async def evidence(self) -> Evidence:
        """Everything the checks may read, as of now."""
        ...

    async def rest(self) -> None:
        """Stop what the last reset started, so that waiting for the next one takes little memory."""
        ...

    async def close(self) -> None:
        """Stop every process and remove every file of this environment. May be called twice."""
        ...


@runtime_checkable
class WithProfile(Environment, Protocol):
    """An environment whose applications are shown by a program that caches their files."""

    without_cache: dict[str, str]
    """Applications whose cached files do not stay from one reset to the next, with the reason."""

    async def fallback_fonts(self) -> list[str]:
        """Plain texts in front that no one font draws whole, or a font of pictures, each with its fonts."""
        ...


ToldControl = dict[str, Any]
"""`type`, `text`, `value`, `parent_text`, `parent_type`, `row`, `section`, `point`, `checked`, `disabled`,
`focused`, and its place."""


def told_control(
    told: ToldControl, label: int, place: Rectangle, application: str, shown: Callable[[str], str] = str
) -> Control:
    """The control with its label; `shown` makes what is shown of its texts."""
    x, y = (round(value) for value in told["point"])
    central = abs(place.center[0] - x) <= 1 and abs(place.center[1] - y) <= 1
    return Control(
        label=str(label),
        control_type=told["type"],
        parent_type=told["parent_type"],
        rectangle=place,
        free_point=None if central else (x, y),
        application=application,
        **{name: shown(told[name]) for name in ("text", "parent_text", "row", "section", "value")},
        **{name: told[name] for name in ("checked", "disabled", "focused")},
    )
