"""The environment protocol, modelled on Gymnasium (reset, observe, act) and extended with evidence. Also
makes controls from what a page's script or a machine's server lists."""

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

        File fixtures at the paths in `without`, or below them, are left out: the task creates these files
        itself, even if an application has them as fixtures for other tasks to read.

        Raises:
            ApplicationUnavailableError: one of them is not installed.
            ApplicationStartFailedError: one of them did not start.
        """
        ...

    async def observe(self) -> Observation:
        """The screen and its controls, once the page has settled."""
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
        """Stop what the last reset started, to save memory until the next one."""
        ...

    async def close(self) -> None:
        """Stop every process and remove every file of this environment. May be called twice."""
        ...


@runtime_checkable
class WithProfile(Environment, Protocol):
    """An environment whose applications are shown by a program that caches their files."""

    without_cache: dict[str, str]
    """Applications whose cached files are not kept between resets, with the reason."""

    async def fallback_fonts(self) -> list[str]:
        """Plain texts on the screen drawn in several fonts or in an emoji font, each with its fonts."""
        ...


ControlFields = dict[str, Any]
"""A control as listed by a page's script or a machine's server: `type`, `text`, `value`, `parent_text`,
`parent_type`, `row`, `section`, `point`, `checked`, `disabled`, `focused`, and its rectangle or box."""


def make_control(
    fields: ControlFields, label: int, place: Rectangle, application: str, clean: Callable[[str], str] = str
) -> Control:
    """The control with `label`; `clean` is applied to its texts."""
    x, y = (round(value) for value in fields["point"])
    central = abs(place.center[0] - x) <= 1 and abs(place.center[1] - y) <= 1
    return Control(
        label=str(label),
        control_type=fields["type"],
        parent_type=fields["parent_type"],
        rectangle=place,
        free_point=None if central else (x, y),
        application=application,
        **{name: clean(fields[name]) for name in ("text", "parent_text", "row", "section", "value")},
        **{name: fields[name] for name in ("checked", "disabled", "focused")},
    )
