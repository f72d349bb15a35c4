"""Observations of the desktop and inputs to it: the operations of taskloom's own protocol."""

import asyncio
import base64
import threading
import time
import zlib
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from taskloom.environments.platforms.linux_desktop.server.accessibility import Accessibility
from taskloom.environments.platforms.linux_desktop.server.clipboard_keeper import ClipboardKeeper
from taskloom.environments.platforms.linux_desktop.server.controls import Control, flat_controls, open_windows
from taskloom.environments.platforms.linux_desktop.server.display import Screen, Window
from taskloom.environments.platforms.linux_desktop.server.evidence import Evidence
from taskloom.environments.platforms.linux_desktop.server.inputs import Inputs
from taskloom.environments.platforms.linux_desktop.server.programs import Programs, at_work

Result = TypeVar("Result")
Document = dict[str, Any]
"""A message of the protocol, as JSON."""
_LONGEST_CALL_SECONDS = 60.0
_POLL_SECONDS = 0.004
_WORK_POLL_SECONDS = 0.02
"""Pause between checks for work, each of which reads the state of every thread of the machine."""
_MOST_POPUPS = 4
_MOST_STARTS = 3
_HANDOVER_SECONDS = 2.0
"""How long a window may take to appear after its program ended without an error and left no process."""
_KEEPING_SECONDS = 3.0
"""How long to wait for the clipboard of an application before it is ended."""
_FOCUS_SECONDS = 0.35
"""How long after the last drawing a window may still get the focus."""


class Patience:
    """How long to wait for the screen, in seconds."""

    quiet_after_text = 0.04
    """Time without drawing after typed text, which shows at once."""
    quiet_after_input = 0.12
    """Time without drawing after clicks and keys that may start something."""
    quiet_after_window = 0.3
    """Time without drawing after a window opened or closed, because others often follow."""
    longest = 1.5
    """Maximum wait for the screen to become still."""
    longest_work = 3.0
    """Maximum extra wait while a program works: on a busy machine it may draw nothing for a while."""


class Desktop:
    """The desktop of the machine; requests are carried out one at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.accessibility = Accessibility()
        self.in_loop(self.accessibility.connect())
        self.screen = Screen()
        self.screen.paint_background()
        self.inputs = Inputs(self.screen)
        self.programs = Programs()
        self.evidence = Evidence()
        self.clipboard = ClipboardKeeper(self.screen.name)
        self.lock = threading.RLock()
        self._drawing = ThreadPoolExecutor(1)
        self._bars: dict[str, bytes] = {}
        self._front = ""
        self._open_windows: frozenset[int] = frozenset()
        self._restless: frozenset[int] = frozenset()
        self._tolerated: dict[int, tuple[int, int]] = {}
        self._differences: dict[int, tuple[int, int]] = {}

    def in_loop(self, calls: Coroutine[Any, Any, Result]) -> Result:
        """Run calls over the bus in the event loop; blocks."""
        return asyncio.run_coroutine_threadsafe(calls, self._loop).result(_LONGEST_CALL_SECONDS)

    def observe(self, request: Document) -> tuple[Document, bytes]:
        """The screen once it is still: windows, controls, and its picture unless `picture` is false."""
        quiet = float(request.get("quiet", Patience.quiet_after_text))
        deadline = time.monotonic() + Patience.longest
        before, wanted = self._open_windows, request.get("picture", True)
        while True:
            deadline = self.settle(quiet, deadline)
            looked, shown = time.monotonic(), self._front
            # The picture is compressed while controls are read; both are repeated if drawing intervenes.
            picture = self._drawing.submit(self.screen.png, self._bars.get(shown, b"")) if wanted else None
            document, agree = self._look()
            if self._open_windows != before and quiet < Patience.quiet_after_window:
                quiet, agree = Patience.quiet_after_window, False
                deadline += Patience.longest
            changed = self.screen.seconds_still() < time.monotonic() - looked
            if agree and not changed:
                break
            if time.monotonic() >= deadline:
                self._tolerated = dict(self._differences)
                break
            if not changed:
                time.sleep(_POLL_SECONDS)  # an opening window, or a changing focus, draws nothing yet
        if picture is None:
            return document, b""
        self._front = document["active"] if document["active"] in self._bars else self._front
        if self._front != shown:
            return document, self.screen.png(self._bars.get(self._front, b""))
        return document, picture.result()

    def pointer(self, request: Document) -> tuple[Document, bytes]:
        """Where the pointer is."""
        return {"at": self.inputs.position()}, b""

    def make(self, request: Document) -> tuple[Document, bytes]:
        """Make the inputs in `inputs` without observing their effect."""
        for item in request["inputs"]:
            self._input(item)
        return {}, b""

    def bars(self, request: Document) -> tuple[Document, bytes]:
        """Set the rows that are put below every picture, by the application in front."""
        bars = request["bars"].items()
        self._bars = {name: zlib.decompress(base64.b64decode(rows)) for name, rows in bars}
        self._front = next(iter(self._bars), "")
        return {}, b""

    def act(self, request: Document) -> tuple[Document, bytes]:
        """Make the inputs in `inputs`, then observe."""
        self.make(request)
        quiet = Patience.quiet_after_text if _ends_in_text(request["inputs"]) else Patience.quiet_after_input
        return self.observe({"quiet": quiet, **request})

    def start(self, request: Document) -> tuple[Document, bytes]:
        """Start an application, or bring it to the front, and wait for its window.

        Raises:
            RuntimeError: it ended, or showed no window in time.
        """
        name, command = request["application"], request["command"]
        if request.get("anew"):
            self.clipboard.wait(_KEEPING_SECONDS)
            self.programs.stop(name)
        if not self._windows_of(name) or not self.programs.runs(name):
            self.programs.stop(name)
            self._run(name, request)
        deadline = time.monotonic() + float(request.get("seconds", 60))
        windows = self._first_windows(name, request, deadline)
        self._close_popups()
        self.screen.activate(windows[-1])
        wanted = request.get("ready_text", "")
        while True:
            self.settle(2 * Patience.quiet_after_input, time.monotonic() + 2 * Patience.longest)
            document, _ = self._look()
            mine = [control for control in document["controls"] if control["application"] == name]
            if mine and (not wanted or any(control["text"] == wanted for control in mine)):
                break
            if time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} did not show {wanted!r} in time")
            time.sleep(0.05)
        return self.observe({**request, "quiet": 2 * Patience.quiet_after_input})

    def _run(self, name: str, request: Document) -> None:
        command = request["command"]
        try:
            self.programs.start(name, command, request.get("environment", {}))
        except OSError as error:
            raise RuntimeError(f"{command[0]} cannot be started: {error.strerror}") from None

    def _first_windows(self, name: str, request: Document, deadline: float) -> list[Window]:
        """Wait for a window, whichever process shows it.

        A program that ended without an error may have handed over to a process that was already running; if
        that process then ended too, leaving none, the program is started again.
        """
        starts, ended = 1, 0.0
        while not (windows := self._windows_of(name)):
            now = time.monotonic()
            if self.programs.runs(name):
                ended = 0.0
            elif not self.programs.ended_well(name):
                raise self._start_error(name, request, "ended")
            elif now - (ended := ended or now) > _HANDOVER_SECONDS:
                if starts == _MOST_STARTS:
                    raise self._start_error(name, request, "ended")
                self._run(name, request)
                starts, ended = starts + 1, 0.0
            if now > deadline:
                raise self._start_error(name, request, "showed no window in time")
            time.sleep(0.02)
        return windows

    def _start_error(self, name: str, request: Document, what: str) -> RuntimeError:
        output = self.programs.printed(name) or "it printed nothing"
        return RuntimeError(f"{request['command'][0]} {what}: {output}")

    def _close_popups(self) -> None:
        """Close open menus, which would grab the pointer and the keyboard."""
        for _ in range(_MOST_POPUPS):
            if not any(window.popup for window in self.screen.windows()):
                return
            self.inputs.keys([("escape", ())])
            self.settle(Patience.quiet_after_input, time.monotonic() + Patience.longest)

    def settle(self, quiet: float, deadline: float) -> float:
        """Wait until nothing is drawn for `quiet` seconds and no program is busy, or until `deadline`.

        Busy programs postpone the deadline, which is returned; one that is busy too long is ignored until it
        rests.
        """
        latest = deadline + Patience.longest_work
        while (now := time.monotonic()) < deadline:
            working: frozenset[int] = frozenset()
            if self.screen.seconds_still() >= quiet:
                working = at_work()
                self._restless &= working
                working -= self._restless
                if not working:
                    break
            time.sleep(_WORK_POLL_SECONDS if working else _POLL_SECONDS)
            if working:
                deadline += time.monotonic() - now
                if deadline >= latest:
                    self._restless |= working
                    break
        return deadline

    def _windows_of(self, application: str) -> list[Window]:
        owner = self.programs.owner
        return [
            window
            for window in self.screen.windows()
            if not window.popup and window.process and owner(window.process) == application
        ]

    def _look(self) -> tuple[Document, bool]:
        """The visible state, and whether display and control trees agree on which windows are open."""
        forest, windows = self.in_loop(self.accessibility.forest()), self.screen.windows()
        self._open_windows = frozenset(window.number for window in windows if not window.popup)
        owner = cache(self.programs.owner)
        active = self.screen.active(windows)
        front = owner(active.process) if active else ""
        controls: list[Control] = []
        for control in flat_controls(forest, windows, self.screen.size):
            process = control.pop("process")
            assert isinstance(process, int)
            if owner(process) == front:
                controls.append(control | {"application": front})
        document = {
            "controls": controls,
            "active": front,
            "title": active.title if active else "",
            "silent": [owner(process) for process in forest.silent],
        }
        return document, self._agree(open_windows(forest), windows) and self._focused(controls)

    def _focused(self, controls: Sequence[Control]) -> bool:
        """Whether a control has the focus, or none got it in the time that this may take."""
        return self.screen.seconds_still() > _FOCUS_SECONDS or any(control["focused"] for control in controls)

    def _agree(self, reported: Mapping[int, int], windows: Sequence[Window]) -> bool:
        """Whether every process shows as many windows as its tree reports; differences that lasted for a
        whole observation are tolerated."""
        shown = Counter(window.process for window in windows if not window.popup)
        self._differences = {
            process: (count, shown[process]) for process, count in reported.items() if count != shown[process]
        }
        return self._differences.items() <= self._tolerated.items()

    def _input(self, item: Mapping[str, Any]) -> None:
        kind = item["kind"]
        self.screen.note_input()
        point, button = tuple(item.get("point") or (0, 0)), item.get("button", "left")
        if kind == "click":
            self.inputs.click(point, button, item.get("times", 1), item.get("held", ()))
        elif kind == "move":
            self.inputs.move(point)
        elif kind == "wheel":
            self.inputs.wheel(point, item.get("up", 0), item.get("sideways", 0))
        elif kind == "keys":
            self.inputs.keys(item["presses"])
        elif kind == "hold":
            self.inputs.hold(item["presses"], item["seconds"])
        elif kind == "drag":
            self.inputs.drag([tuple(place) for place in item["points"]])
        elif kind in ("button_down", "button_up"):
            self.inputs.button(point, button, down=kind == "button_down")
        elif kind in ("key_down", "key_up"):
            self.inputs.key(item["key"], down=kind == "key_down")
        elif kind == "wait":
            time.sleep(item["seconds"])
        else:
            raise RuntimeError(f"there is no input of the kind {kind!r}")
        self.screen.note_input()
        if item.get("settle"):
            self.settle(Patience.quiet_after_text, time.monotonic() + Patience.longest)


def _ends_in_text(inputs: Sequence[Mapping[str, Any]]) -> bool:
    presses: Sequence[Any] = inputs[-1]["presses"] if inputs and inputs[-1]["kind"] == "keys" else ()
    return bool(presses) and len(presses[-1][0]) == 1 and not presses[-1][1]
