"""The simulated platform: small applications over real files, without a browser, for tests and benchmarks,
never for datasets. Its environment runs them in a sandbox home and draws their pictures."""

import functools
import hashlib
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from PIL import Image, ImageDraw

from taskloom.environments.aiming import InputLog, aim, parse_keys, under_pointer
from taskloom.environments.annotated import font
from taskloom.environments.environment import Environment
from taskloom.environments.errors import (
    ActionInvalidError,
    ApplicationUnavailableError,
    EnvironmentBrokenError,
)
from taskloom.environments.evidence.file_snapshot import FileSnapshots
from taskloom.environments.lookup import InstallationResult
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.simulated.applications import APPLICATIONS, SimulatedApplication
from taskloom.environments.starting_place import ENVIRONMENT, START_PAGE, TASK_BAR_BUTTON
from taskloom.resources.applications import Application
from taskloom.resources.noise import NoisePlace
from taskloom.resources.reading.catalog import expand_application
from taskloom.resources.reading.yaml_reading import parse_entry, read_yaml
from taskloom.resources.record import Record
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    HoldInput,
    KeyboardInput,
    Observation,
    Rectangle,
    Screenshot,
)
from taskloom.taskgraph.records.keys import KeyPress, runs

_SIZE, _LINE, _ROWS = (1280, 800), 36, 20
_INK, _EDGE, _FOCUS = (0x1D, 0x27, 0x33), (0x9A, 0xA7, 0xB6), (0x24, 0x63, 0xC7)
_GROUND = (0xE9, 0xED, 0xF2)
_FILLS = {"Button": (0xDB, 0xE4, 0xF0), "Edit": (0xFF, 0xFF, 0xFF), "ListItem": (0xF4, 0xF6, 0xF8)}
_SHADES = 16
"""Shades from a fill's colour to the ink's, for soft edges of letters in a picture with a palette."""


def place_of(position: int) -> Rectangle:
    """The rectangle of the control at `position` in reading order: column by column, from top to bottom."""
    column, row = divmod(position, _ROWS)
    left, top = 10 + column * 420, 10 + row * _LINE
    return Rectangle(left=left, top=top, right=left + 400, bottom=top + _LINE - 6)


@functools.lru_cache(maxsize=256)
def draw(controls: tuple[Control, ...]) -> bytes:
    """The screen as PNG; the pictures of the latest screens are cached."""
    colours, _ = _palette()
    picture = Image.new("P", _SIZE, 0)
    picture.putpalette(colours)
    for control in controls:
        place = control.rectangle
        shown = f"{control.text}: {control.value}" if control.control_type == "Edit" else control.text
        size = (place.right - place.left, place.bottom - place.top)
        box = _box(control.control_type, control.focused, shown.replace("\n", " / ")[:52], size)
        picture.paste(box, (place.left, place.top))
    output = io.BytesIO()
    picture.save(output, "PNG", compress_level=1)
    return output.getvalue()


@functools.lru_cache(maxsize=1024)
def _box(control_type: str, focused: bool, shown: str, size: tuple[int, int]) -> Image.Image:
    """The picture of one control in the palette; cached, because screens differ in few controls."""
    colours, first_of = _palette()
    first = first_of.get(control_type, 0)
    ink = Image.new("L", size, 0)
    ImageDraw.Draw(ink).text((8, 6), shown, fill=255, font=font(14))
    box = Image.frombytes(
        "P", size, ink.tobytes().translate(bytes(first + grey * _SHADES // 256 for grey in range(256)))
    )
    edge = len(colours) // 3 - (1 if focused else 2)
    ImageDraw.Draw(box).rectangle((0, 0, size[0] - 1, size[1] - 1), outline=edge)
    return box


@functools.cache
def _palette() -> tuple[list[int], dict[str, int]]:
    """All colours as PNG lists them, the background's first, and the first shade of each control type."""
    colours: list[int] = []
    first_of: dict[str, int] = {}
    for control_type, fill in {"": _GROUND, **_FILLS}.items():
        first_of[control_type] = len(colours) // 3
        for shade in range(_SHADES):
            part = shade / (_SHADES - 1)
            colours += [round(below + (ink - below) * part) for below, ink in zip(fill, _INK, strict=True)]
    return [*colours, *_EDGE, *_FOCUS], first_of


_BAR = TASK_BAR_BUTTON
_PARENTS = {"Button": ("Tools", "ToolBar"), "ListItem": ("Files", "List"), _BAR: ("Task bar", "ToolBar")}


class SimulatedSettings(Record):
    """Settings of the platform `simulated`."""

    pictures: bool = True
    """Whether to draw screenshots; otherwise they have only a hash, and steps are much faster."""
    temporary_folder: Path | None = None
    """Where sandbox homes are made; None means the system's temporary folder."""


class SimulatedEnvironment:
    """A desktop of simulated applications; every record made with it says so."""

    platform = "simulated"
    simulated = True

    def __init__(self, settings: SimulatedSettings) -> None:
        self._settings = settings
        self._sandbox: Sandbox | None = None
        self._files: FileSnapshots | None = None
        self._screen: Observation | None = None
        self._open: dict[str, SimulatedApplication] = {}
        self._titles: dict[str, str] = {}
        self._noise: tuple[NoisePlace, ...] = ()
        self._clipboard: list[str] = []
        self._front, self._focus, self._all_selected = "", "", False
        self._pointer = (-1.0, -1.0)
        self.log = InputLog()

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Return to the clean state of `applications`; see the protocol."""
        unknown = [item.name for item in applications if item.name not in APPLICATIONS]
        if unknown or not applications:
            raise ApplicationUnavailableError(
                f"Not simulated: {unknown}; simulated: {', '.join(APPLICATIONS)}."
            )
        if self._sandbox is None:
            self._sandbox = Sandbox(self._settings.temporary_folder)
            self._files = FileSnapshots(self._sandbox.home)
        self._sandbox.clear()
        self._sandbox.lay_fixtures(applications, without)
        self._clipboard, self._pointer = [], (-1.0, -1.0)
        self.log.clear()
        home, clipboard = self._sandbox.home, self._clipboard
        self._open = {item.name: APPLICATIONS[item.name](home, clipboard) for item in applications}
        self._titles = {item.name: item.title for item in applications}
        self._noise = tuple(place for item in applications for place in item.noise)
        return await self.bring_to_front(applications[0].name)

    async def observe(self) -> Observation:
        """The current screen."""
        if self._front not in self._open:
            raise EnvironmentBrokenError("The environment must be reset before there is anything to see.")
        bar = (START_PAGE, *self._titles.values())
        items = [*self._open[self._front].view(), *((_BAR, text, "") for text in bar)]
        controls = tuple(self._control(position, *item) for position, item in enumerate(items))
        digest = hashlib.sha256(repr((items, self._focus)).encode()).hexdigest()
        screenshot = Screenshot.of(draw(controls)) if self._settings.pictures else Screenshot(sha256=digest)
        self._screen = Observation(screenshot=screenshot, controls=controls, active_application=self._front)
        return self._screen

    async def act(self, action: Action) -> Observation:
        """Carry out `action` and observe; only clicks and keys change anything here."""
        self.log.step += 1
        if self._screen is None:
            raise EnvironmentBrokenError("The environment must be reset before anything can be done in it.")
        controls = self._screen.controls
        aimed = aim(action, controls, self._screen.screen_size)
        action, target = aimed.action, aimed.target
        if isinstance(action, HoldInput):
            parse_keys(action.keys)
        if target is None and isinstance(action, KeyboardInput):
            target = next((control for control in controls if control.focused), None)
        presses = parse_keys(action.keys) if isinstance(action, KeyboardInput) else ()
        self.log.note(action, target, controls, self._front)
        if target is not None:
            self._pointer = target.rectangle.center
            if isinstance(action, ClickInput) or (presses and not target.focused):
                self._click(target)
                self._all_selected = isinstance(action, ClickInput) and action.triple
        for part in runs(presses):
            self._type(part)
        return await self.observe()

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application of the last reset in front."""
        if application not in self._open:
            known = ", ".join(self._open)
            raise ActionInvalidError(f"No application {application!r} was started; started: {known}.")
        self._front, self._focus, self._all_selected = application, "", False
        return await self.observe()

    async def evidence(self) -> Evidence:
        """Everything the checks may read, as of the last look."""
        if self._screen is None or self._files is None:
            raise EnvironmentBrokenError("The environment must be reset before there is evidence.")
        home = self._files.take()
        return Evidence(
            step=self.log.step,
            inputs=self.log.events,
            screenshot=self._screen.screenshot,
            controls=self._screen.controls,
            text_under_cursor=under_pointer(self._screen.controls, self._pointer),
            clipboard=ClipboardState(text="".join(self._clipboard) or None),
            files=home.files,
            directories=home.directories,
            unseen=home.unseen,
            active_application=self._front,
            window_title=self._titles[self._front],
            noise=self._noise,
        )

    async def belongings(self) -> tuple[dict[str, bytes | None], str]:
        """The visible files of the home, and the text of the clipboard."""
        if self._sandbox is None:
            raise EnvironmentBrokenError("The environment must be reset before it has files.")
        return self._sandbox.visible(), "".join(self._clipboard)

    async def take_over(self, files: Mapping[str, bytes | None], gone: Collection[str], text: str) -> None:
        """Write `files`, remove those in `gone`, and copy `text` unless it is empty."""
        if self._sandbox is not None:
            self._sandbox.put(files, gone)
        self._clipboard[:] = [text] if text else self._clipboard

    async def rest(self) -> None:
        """Nothing runs between resets."""

    async def close(self) -> None:
        """Remove every file of this environment. May be called twice."""
        sandbox, self._sandbox, self._front, self._screen = self._sandbox, None, "", None
        if sandbox is not None:
            sandbox.close()

    def _control(self, position: int, control_type: str, text: str, value: str) -> Control:
        parent = _PARENTS.get(control_type, ("", ""))
        return Control(
            label=str(position + 1),
            text=text,
            control_type=control_type,
            parent_text=parent[0],
            parent_type=parent[1],
            rectangle=place_of(position),
            value=value,
            focused=control_type == "Edit" and text == self._focus,
            checked=text == self._titles[self._front]
            if control_type == _BAR and text != START_PAGE
            else None,
            application=ENVIRONMENT if control_type == _BAR else self._front,
        )

    def _click(self, target: Control) -> None:
        self._focus, self._all_selected = target.text if target.control_type == "Edit" else "", False
        if target.control_type == _BAR and target.text == START_PAGE:
            self._open[self._front].show_first_page()
        elif target.control_type == _BAR:
            self._front = next(name for name, title in self._titles.items() if title == target.text)
        else:
            self._open[self._front].click(target.control_type, target.text)

    def _type(self, part: str | KeyPress) -> None:
        application, chord = self._open[self._front], part.chord if isinstance(part, KeyPress) else ""
        if chord == "ctrl+s":
            application.click("Button", "Save")
        elif chord == "ctrl+a":
            self._all_selected = True
        elif chord in ("ctrl+c", "ctrl+x") and self._all_selected:
            self._clipboard[:] = [application.texts.get(self._focus, "")]
        written = {"ctrl+v": "".join(self._clipboard), "enter": "\n"}
        written |= dict.fromkeys(("backspace", "delete", "ctrl+x"), "")
        if self._focus and (isinstance(part, str) or chord in written):
            kept = "" if self._all_selected else application.texts[self._focus]
            if chord in ("backspace", "delete"):
                kept = kept[:-1]
            application.texts[self._focus] = kept + (part if isinstance(part, str) else written[chord])
            self._all_selected = False


@cache
def simulated_applications() -> tuple[Application, ...]:
    """The simulated applications with their example subtasks, by name."""
    folder = files("taskloom.environments.platforms.simulated") / "catalog"
    sources = [
        read_yaml(item.read_text(), item.name) for item in folder.iterdir() if item.name.endswith(".yaml")
    ]
    found = (parse_entry(source, expand_application(source.content), Application) for source in sources)
    return tuple(sorted(found, key=lambda entry: entry.name))


SETTINGS = SimulatedSettings
applications = simulated_applications


def missing(application: Application, data_folder: Path) -> str:
    """Nothing: the applications are part of taskloom."""
    return ""


def prepare(data_folder: Path, say: Callable[[str], None]) -> str:
    """Nothing has to be prepared."""
    return "the simulated platform needs nothing"


def install(
    applications: Sequence[Application], data_folder: Path, say: Callable[[str], None]
) -> list[InstallationResult]:
    """Nothing has to be installed."""
    return []


def create(settings: Record) -> Environment:
    """A new environment."""
    return SimulatedEnvironment(SimulatedSettings.model_validate(settings, from_attributes=True))
