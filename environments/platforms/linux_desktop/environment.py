"""The environment of the Linux desktop platform."""

from __future__ import annotations

import asyncio
import base64
import time
import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from taskloom.environments.aiming import Aim, InputLog, aim, parse_keys, refuse_stale, under_pointer
from taskloom.environments.environment import make_control
from taskloom.environments.errors import (
    ActionInvalidError,
    ApplicationStartFailedError,
    ApplicationUnavailableError,
    EnvironmentBrokenError,
    RequestRefusedError,
)
from taskloom.environments.evidence.unpacked_text import picture_text
from taskloom.environments.machines.machine import Document, Machine, MachineMaker, ReadyMachines, Reply
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.linux_desktop.files import HOME, MachineFiles
from taskloom.environments.platforms.linux_desktop.settings import LinuxDesktopSettings
from taskloom.environments.screen_words import NOTHING_CHANGED, ONLY_THE_PICTURE, describe_change
from taskloom.environments.starting_place import ENVIRONMENT
from taskloom.environments.task_bar import TaskBarButton, as_controls, bar_pixels, lay_out
from taskloom.resources.applications import Application
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.gestures import PointedGesture
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    DragInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    Observation,
    Rectangle,
    Screenshot,
    WaitInput,
    WheelMouseInput,
)

_COPY_SCRIPT = 'printf %s "$1" | xclip -selection clipboard -in >/dev/null 2>&1'
_LATE_SECONDS = 0.6
"""Wait before a second look after an action without effect: a file dialog waits for timers of its own."""
_LOOKS_AT_ANSWERED_DIALOG = 5
"""Further looks at a dialog that was answered with Enter: an application may work before it closes
the dialog, and keys pressed meanwhile are lost."""
_MOST_SILENCES = 4
"""How many looks in a row the application in front may leave unanswered before it counts as hung."""


class DesktopEnvironment:
    """A machine with the applications of the last reset; the next one is started in advance."""

    platform = "linux_desktop"
    simulated = False

    def __init__(self, settings: LinuxDesktopSettings, make: MachineMaker) -> None:
        self._settings = settings
        self._make = make
        self._files: MachineFiles | None = None
        self._ready: ReadyMachines | None = None
        self._machine: Machine | None = None
        self._applications: dict[str, Application] = {}
        self._started: set[str] = set()
        self._front = ""
        self._observation: Observation | None = None
        self._commands: dict[str, str] = {}  # commands of task bar buttons, by label
        self.log = InputLog()
        self._pointer: tuple[float, float] = (-1.0, -1.0)
        self._last_input_at = 0.0
        self._lock = asyncio.Lock()

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Return to the clean state of `applications`, the first in front; see the protocol."""
        if not applications:
            raise ValueError("A reset needs at least one application.")
        async with self._lock:
            self.log.clear()
            self._pointer = (-1.0, -1.0)
            await self._stop()
            self._applications = {item.name: item for item in applications}
            self._started.clear()
            if self._files is None or self._ready is None:
                sandbox = await asyncio.to_thread(Sandbox, self._settings.temporary_folder)
                self._files = MachineFiles(sandbox)
                self._ready = ReadyMachines(self._make, sandbox.root, self._settings.machines_ahead)
            self._machine = await self._ready.take()
            await self._files.lay(self._machine, applications, without)
            await self._machine.request("bars", {"bars": self._bars()})
            return await self._show(applications[0].name)

    async def observe(self) -> Observation:
        """The screen and its controls, once nothing moves any more."""
        async with self._lock:
            return await self._look()

    async def act(self, action: Action) -> Observation:
        """Carry out `action` on the last observation and observe; see the protocol."""
        async with self._lock:
            self.log.step += 1
            before = self._observation
            if before is None or self._machine is None:
                raise EnvironmentBrokenError(
                    "The environment must be reset before anything can be done in it."
                )
            controls = before.controls
            aimed = aim(action, controls, self._settings.screen_size)
            target = aimed.target
            if target is None and isinstance(action, KeyboardInput):
                target = next((control for control in controls if control.focused), None)
            if isinstance(action, KeyboardInput | HoldInput):
                parse_keys(action.keys)  # raises before anything is done
            if target is not None and target.label in self._commands:
                self.log.note(aimed.action, target, controls, self._front)
                self._pointer = target.rectangle.center
                if isinstance(aimed.action, ClickInput):
                    return await self._run_command(self._commands[target.label])
                return await self._look()
            # The target may be gone by now, unless all controls belong to the environment.
            if aimed.target is not None and any(control.application != ENVIRONMENT for control in controls):
                refuse_stale(aimed, _controls_now(await self._ask("observe", {"picture": False, "quiet": 0})))
            self.log.note(aimed.action, target, controls, self._front)
            self._move_pointer(aimed)
            inputs = inputs_of(aimed, self._settings.display_size)
            reply = await self._ask("act", {"inputs": inputs})
            self._last_input_at = time.monotonic()
            after = await self._look(reply)
            if describe_change(before, after) in (NOTHING_CHANGED, ONLY_THE_PICTURE):
                await asyncio.sleep(_LATE_SECONDS)
                after = await self._look()
            looks = _LOOKS_AT_ANSWERED_DIALOG if _ends_with_enter(action) else 0
            while looks and _is_dialog(after) and after.window_title == before.window_title:
                await asyncio.sleep(_LATE_SECONDS)
                after, looks = await self._look(), looks - 1
            return after

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application of the last reset in front, as a click on the task bar does."""
        async with self._lock:
            if application not in self._applications:
                known = ", ".join(self._applications) or "none"
                raise ActionInvalidError(f"No application {application!r} was started; started: {known}.")
            return await self._show(application)

    async def evidence(self) -> Evidence:
        """Everything the checks may read, as of the last look."""
        async with self._lock:
            observation, (machine, files) = self._observation, self._require_machine()
            if observation is None:
                raise EnvironmentBrokenError("The environment must be observed before there is evidence.")
            await asyncio.sleep(self._seconds_until_written())
            opened = tuple(self._applications.values())
            home, clipboard, selection = await files.take(machine, opened, self._started)
            return Evidence(
                step=self.log.step,
                inputs=self.log.events,
                screenshot=observation.screenshot,
                screen=await asyncio.to_thread(self._display_text, observation),
                controls=observation.controls,
                text_under_cursor=under_pointer(observation.controls, self._pointer),
                clipboard=clipboard,
                selection=selection,
                files=home.files,
                directories=home.directories,
                unseen=home.unseen,
                active_application=self._front,
                window_title=observation.window_title,
            )

    async def belongings(self) -> tuple[dict[str, bytes | None], str]:
        """The visible files of the home, and the text of the clipboard."""
        async with self._lock:
            machine, files = self._require_machine()
            _, clipboard, _ = await files.take(machine, (), ())
            return await asyncio.to_thread(files.sandbox.visible), clipboard.text or ""

    async def take_over(self, files: Mapping[str, bytes | None], gone: Collection[str], text: str) -> None:
        """Write `files`, remove those that are `gone`, and copy `text` unless it is empty."""
        async with self._lock:
            machine, _ = self._require_machine()
            await machine.write(files)
            if gone:
                await machine.run(("rm", "-rf", "--", *(f"{HOME}/{name}" for name in gone)))
            if text:
                copied = await machine.run(("sh", "-c", _COPY_SCRIPT, "sh", text))
                if copied.code:
                    raise EnvironmentBrokenError(f"The text could not be copied: {copied.errors}")

    async def rest(self) -> None:
        """Stop the machine of the last reset; machines started early stay ready."""
        async with self._lock:
            await self._stop()

    async def close(self) -> None:
        """Stop every machine and remove every file of this environment. May be called twice."""
        async with self._lock:
            files, ready, self._files, self._ready = self._files, self._ready, None, None
            try:
                await self._stop()
                if ready is not None:
                    await ready.close()
            finally:
                if files is not None:
                    await asyncio.to_thread(files.sandbox.close)

    def _display_text(self, observation: Observation) -> str:
        """The picture of the display as text, if an application requests it; else empty."""
        states = (application.launch.state for application in self._applications.values())
        if not any(state is not None and state.screen for state in states):
            return ""
        return picture_text(observation.screenshot.png, self._settings.display_size) or ""

    def _seconds_until_written(self) -> float:
        """Seconds until the applications have written what the last input changed."""
        states = [self._applications[name].launch.state for name in self._started]
        longest = max((state.written_seconds for state in states if state is not None), default=0.0)
        return max(0.0, self._last_input_at + longest - time.monotonic())

    def _require_machine(self) -> tuple[Machine, MachineFiles]:
        if self._machine is None or self._files is None:
            raise EnvironmentBrokenError("The environment must be reset before it has files.")
        return self._machine, self._files

    async def _stop(self) -> None:
        machine, self._machine, self._observation = self._machine, None, None
        if machine is not None:
            await machine.stop()

    async def _show(self, name: str, *, restart: bool = False) -> Observation:
        """Start an application or bring it to the front; `restart` ends it first and keeps its files."""
        launch = self._applications[name].launch
        wanted = {
            "application": name,
            "command": launch.command,
            "environment": launch.environment,
            "ready_text": launch.ready_text,
            "seconds": launch.start_timeout_seconds,
            "anew": restart,
        }
        try:
            reply = await self._ask("start", wanted)
        except RequestRefusedError as error:
            title = self._applications[name].title
            if "cannot be started" in str(error):
                raise ApplicationUnavailableError(f"{title} is not in the machine: {error}") from error
            raise ApplicationStartFailedError(f"{title} did not start: {error}") from error
        self._started.add(name)
        self._front = name
        return await self._look(reply)

    async def _run_command(self, command: str) -> Observation:
        if command == "start":
            return await self._show(self._front, restart=True)
        position = int(command.removeprefix("tab:"))
        return await self._show(tuple(self._applications)[position])

    async def _look(self, reply: Reply | None = None) -> Observation:
        """Observe from `reply` or by a new look; looks again while the application in front hangs."""
        for _ in range(_MOST_SILENCES):
            reply = reply or await self._ask("observe")
            active = reply.document["active"]
            if active in self._applications:
                self._front = active
            if self._front not in reply.document["silent"]:
                break
            reply = None
        if reply is None:
            raise EnvironmentBrokenError(f"{self._applications[self._front].title} does not respond.")
        controls, buttons = _controls_now(reply), self._buttons(self._front)
        bar = as_controls(buttons, len(controls) + 1)
        self._commands = {control.label: button.command for control, button in zip(bar, buttons, strict=True)}
        self._observation = Observation(
            screenshot=Screenshot.of(reply.content),
            controls=(*controls, *bar),
            active_application=self._front,
            window_title=reply.document["title"],
            screen_size=self._settings.screen_size,
        )
        return self._observation

    async def _ask(self, name: str, document: Document | None = None) -> Reply:
        if self._machine is None:
            raise EnvironmentBrokenError("The environment must be reset before there is anything to see.")
        return await self._machine.request(name, document)

    def _move_pointer(self, aimed: Aim) -> None:
        action = aimed.action
        if isinstance(action, DragInput) and action.points:
            self._pointer = action.points[-1]
        elif isinstance(action, PointedGesture) and action.point is not None:
            self._pointer = action.point

    def _buttons(self, front: str) -> tuple[TaskBarButton, ...]:
        titles = [application.title for application in self._applications.values()]
        return lay_out(titles, list(self._applications).index(front), self._settings.screen_size)

    def _bars(self) -> dict[str, str]:
        """The compressed rows of the task bar while an application is in front, by application."""
        width = self._settings.screen_width
        return {
            name: base64.b64encode(zlib.compress(bar_pixels(self._buttons(name), width))).decode()
            for name in self._applications
        }


def _controls_now(reply: Reply) -> list[Control]:
    found = []
    for label, item in enumerate(reply.document["controls"], 1):
        left, top, width, height = item["box"]
        place = Rectangle(left=left, top=top, right=left + width, bottom=top + height)
        found.append(make_control(item, label, place, item["application"]))
    return found


def inputs_of(aimed: Aim, display_size: tuple[int, int]) -> list[dict[str, Any]]:
    """The inputs that carry out an action; keys for a control without the focus click it first.

    Raises:
        ActionInvalidError: its keys do not parse.
    """
    action = aimed.action
    match action:
        case ClickInput():
            fields = {"point": action.point, "button": action.button, "times": action.times}
            return [{"kind": "click", "held": action.held, **fields}]
        case MoveInput():
            return [{"kind": "move", "point": action.point}]
        case WheelMouseInput():
            middle = (display_size[0] // 2, display_size[1] // 2)
            distances = {"up": action.wheel_distance, "sideways": action.wheel_sideways}
            return [{"kind": "wheel", "point": action.point or middle, **distances}]
        case KeyboardInput():
            presses = _presses(action.keys)
            if action.point is None or (aimed.target is not None and aimed.target.focused):
                return [{"kind": "keys", "presses": presses}]
            click = {"kind": "click", "point": action.point, "settle": True}
            return [click, {"kind": "keys", "presses": presses}]
        case HoldInput():
            return [{"kind": "hold", "presses": _presses(action.keys), "seconds": action.seconds}]
        case DragInput():
            return [{"kind": "drag", "points": action.points}]
        case WaitInput():
            return [{"kind": "wait", "seconds": action.seconds}]


def _presses(keys: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(press.key, press.modifiers) for press in parse_keys(keys)]


def _ends_with_enter(action: Action) -> bool:
    """Whether the last key of `action` is Enter."""
    presses = parse_keys(action.keys) if isinstance(action, KeyboardInput) else ()
    return bool(presses) and presses[-1].key == "enter"


def _is_dialog(observation: Observation) -> bool:
    return any(control.parent_type == "Dialog" for control in observation.controls)
