"""Applications of several platforms on one screen: one task bar leads to all of them, and files and the text
of the clipboard are synchronised whenever another platform comes to the front."""

import asyncio
import io
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from PIL import Image

from taskloom.environments.aiming import InputLog, aim
from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError, EnvironmentBrokenError
from taskloom.environments.starting_place import ENVIRONMENT, TASK_BAR_BUTTON
from taskloom.environments.task_bar import (
    TASK_BAR_HEIGHT,
    TaskBarButton,
    as_controls,
    bar_pixels,
    lay_out,
)
from taskloom.resources.applications import Application
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, ClickInput, Control, Observation, Screenshot

Files = Mapping[str, bytes | None]
"""Visible files of a home by path; None stands for a folder."""


class Member(Environment, Protocol):
    """An environment that shares home and clipboard with others."""

    log: InputLog
    """The log of its inputs."""

    async def belongings(self) -> tuple[Files, str]:
        """The visible files of the home, and the text of the clipboard."""
        ...

    async def take_over(self, files: Files, gone: Collection[str], text: str) -> None:
        """Write `files`, remove those that are `gone` (deepest first), and copy `text` unless it is empty."""
        ...


class JointEnvironment:
    """One screen with the applications of all its members."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = tuple(members)
        self.platform = "+".join(member.platform for member in members)
        self.simulated = any(member.simulated for member in members)
        self._log = InputLog()
        for member in members:
            member.log = self._log
        self._member_of: dict[str, Member] = {}
        self._titles: dict[Member, tuple[str, ...]] = {}
        self._shared_files: dict[str, bytes | None] = {}
        self._clipboards: dict[Member, str] = {}
        self._front: Member | None = None
        self._observation: Observation | None = None
        self._targets: dict[str, tuple[Member, str, str]] = {}

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Return to the clean state of `applications`, the first in front; see the protocol."""
        by_platform = {member.platform: member for member in self._members}
        self._member_of = {item.name: by_platform[item.platform] for item in applications}
        parts = {
            member: [item for item in applications if self._member_of[item.name] is member]
            for member in self._members
        }
        self._titles = {member: tuple(item.title for item in part) for member, part in parts.items() if part}
        self._front, self._observation = None, None
        await asyncio.gather(
            *(
                member.reset(part, without=without) if part else member.rest()
                for member, part in parts.items()
            )
        )
        self._front = self._member_of[applications[0].name]
        self._shared_files, self._clipboards = {}, {}
        await self._synchronise()
        return self._with_bar(await self._front.observe())

    async def observe(self) -> Observation:
        """The screen and its controls now."""
        return self._with_bar(await self._require_front().observe())

    async def act(self, action: Action) -> Observation:
        """Carry out `action` on the last observation and observe; see the protocol."""
        front, observation = self._require_front(), self._observation
        assert observation is not None
        try:
            target = aim(action, observation.controls, observation.screen_size).target
        except ActionInvalidError:
            self._log.step += 1
            raise
        if target is None or target.label not in self._targets:
            return self._with_bar(await front.act(action))
        member, label, text = self._targets[target.label]
        if not isinstance(action, ClickInput):
            self._log.step += 1
            self._log.note(action, target, observation.controls, ENVIRONMENT)
            return await self.observe()
        if member is not front:
            label = await self._switch_to(member, text)
        return self._with_bar(await member.act(ClickInput(control_label=label)))

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application of the last reset in front, as a click on the task bar does."""
        member = self._member_of.get(application)
        if member is None:
            known = ", ".join(self._member_of) or "none"
            raise ActionInvalidError(f"No application {application!r} was started; started: {known}.")
        if member is not self._front:
            self._front = member
            await self._synchronise()
        return self._with_bar(await member.bring_to_front(application))

    async def evidence(self) -> Evidence:
        """Everything the checks may read: the evidence of the member in front, with the files of all."""
        front = self._require_front()
        others = [member for member in self._titles if member is not front]
        everything = await asyncio.gather(*(member.evidence() for member in (front, *others)))
        first, rest = everything[0], everything[1:]
        # Shared files that are missing in front were removed there.
        known = {file.path for file in first.files} | self._shared_files.keys()
        further = {file.path: file for evidence in rest for file in evidence.files if file.path not in known}
        folders = {path for evidence in rest for path in evidence.directories} - self._shared_files.keys()
        files = sorted((*first.files, *further.values()), key=lambda file: file.path)
        blocked = dict.fromkeys(url for evidence in everything for url in evidence.blocked_requests)
        return first.model_copy(
            update={
                "files": tuple(files),
                "directories": tuple(sorted(folders.union(first.directories))),
                "unseen": tuple(sorted({name for evidence in everything for name in evidence.unseen})),
                "blocked_requests": tuple(blocked),
                "noise": tuple(dict.fromkeys(place for evidence in everything for place in evidence.noise)),
            }
        )

    async def rest(self) -> None:
        """Stop what the last reset started."""
        await asyncio.gather(*(member.rest() for member in self._members))

    async def close(self) -> None:
        """Stop every process and remove every file of all members. May be called twice."""
        self._front, self._observation = None, None
        await asyncio.gather(*(member.close() for member in self._members))

    def _require_front(self) -> Member:
        if self._front is None:
            raise EnvironmentBrokenError("The environment must be reset before anything can be done in it.")
        return self._front

    async def _switch_to(self, member: Member, text: str) -> str:
        """Put `member` in front; returns the label of its button `text`, unless its tab was closed."""
        self._front = member
        await self._synchronise()
        observation = await member.observe()
        for control in observation.controls:
            if _is_button(control) and control.text == text:
                return control.label
        self._with_bar(observation)
        self._log.step += 1
        raise ActionInvalidError(f"{text!r} is closed by now.")

    async def _synchronise(self) -> None:
        """Make the homes and clipboards of all members agree; if two changed a file, the one that was in
        front before wins."""
        members = sorted(self._titles, key=lambda member: member is self._front)
        if len(members) < 2:
            return
        states = await asyncio.gather(*(member.belongings() for member in members))
        merged, text = dict(self._shared_files), ""
        for member, (files, clipboard) in reversed(list(zip(members, states, strict=True))):
            changed = {path: files[path] for path in files if self._differs(path, files)}
            merged |= changed
            for path in self._shared_files.keys() - files.keys():
                merged.pop(path, None)
            text = clipboard if clipboard != self._clipboards.get(member, "") else text
        for member, (files, clipboard) in zip(members, states, strict=True):
            new = {path: merged[path] for path in merged if path not in files or files[path] != merged[path]}
            gone = sorted(files.keys() - merged.keys(), reverse=True)
            self._clipboards[member] = text or clipboard
            if new or gone or self._clipboards[member] != clipboard:
                await member.take_over(new, gone, text)
        self._shared_files = merged

    def _differs(self, path: str, files: Files) -> bool:
        return path not in self._shared_files or self._shared_files[path] != files[path]

    def _with_bar(self, observation: Observation) -> Observation:
        """The observation of the member in front, with a task bar that leads to all; it is remembered."""
        front = self._require_front()
        buttons = [control for control in observation.controls if _is_button(control)]
        tabs = [control for control in buttons if control.checked is not None]
        commands = [control for control in buttons if control.checked is None]
        self._titles[front] = tuple(control.text for control in tabs)
        targets = [(front, control.label, control.text) for control in commands]
        active = 0
        for member, titles in self._titles.items():
            labels = [control.label for control in tabs] if member is front else [""] * len(titles)
            if member is front:
                chosen = next((index for index, control in enumerate(tabs) if control.checked), 0)
                active = len(targets) - len(commands) + chosen
            targets += [(member, label, title) for label, title in zip(labels, titles, strict=True)]
        bar = lay_out(
            [text for _, _, text in targets[len(commands) :]],
            active,
            observation.screen_size,
            [(control.text, "") for control in commands],
        )
        page_controls = [control for control in observation.controls if not _is_button(control)]
        first = 1 + max((int(control.label) for control in observation.controls), default=0)
        controls = as_controls(bar, first)
        self._targets = {control.label: target for control, target in zip(controls, targets, strict=False)}
        self._observation = observation.model_copy(
            update={
                "controls": (*page_controls, *controls),
                "screenshot": _draw_bar(observation.screenshot, bar, observation.screen_size),
            }
        )
        return self._observation


def _is_button(control: Control) -> bool:
    return control.application == ENVIRONMENT and control.control_type == TASK_BAR_BUTTON


def _draw_bar(picture: Screenshot, bar: Sequence[TaskBarButton], screen_size: tuple[int, int]) -> Screenshot:
    if not picture.png:
        return picture
    width, height = screen_size
    with Image.open(io.BytesIO(picture.png)) as opened:
        screen = opened.convert("RGB")
    bar_picture = Image.frombytes("RGB", (width, TASK_BAR_HEIGHT), bar_pixels(bar, width))
    screen.paste(bar_picture, (0, height - TASK_BAR_HEIGHT))
    output = io.BytesIO()
    screen.save(output, "PNG", compress_level=1)
    return Screenshot.of(output.getvalue())
