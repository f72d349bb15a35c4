"""Applications of several platforms on one screen, with one home and one clipboard: a task bar leads from
each to all others, and files and the text of the clipboard go along whenever another platform comes to the
front."""

import asyncio
import io
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from PIL import Image

from taskloom.environments.aiming import InputLog, aim
from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError, EnvironmentBrokenError
from taskloom.environments.starting_place import TASK_BAR_BUTTON
from taskloom.environments.task_bar import (
    OWNER,
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
    """The inputs made in it."""

    async def belongings(self) -> tuple[Files, str]:
        """The visible files of the home, and the text of the clipboard."""
        ...

    async def take_over(self, files: Files, gone: Collection[str], text: str) -> None:
        """Write `files`, remove those that are `gone`, the deepest first, and copy `text` unless empty."""
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
        self._common: dict[str, bytes | None] = {}
        self._texts: dict[Member, str] = {}
        self._front: Member | None = None
        self._seen: Observation | None = None
        self._leads: dict[str, tuple[Member, str, str]] = {}

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        """Return to the clean state of `applications`, the first in front; see the protocol."""
        by_platform = {member.platform: member for member in self._members}
        self._member_of = {item.name: by_platform[item.platform] for item in applications}
        own = {
            member: [item for item in applications if self._member_of[item.name] is member]
            for member in self._members
        }
        self._titles = {member: tuple(item.title for item in items) for member, items in own.items() if items}
        self._front, self._seen = None, None
        await asyncio.gather(
            *(
                member.reset(items, without=without) if items else member.rest()
                for member, items in own.items()
            )
        )
        self._front = self._member_of[applications[0].name]
        self._common, self._texts = {}, {}
        await self._share()
        return self._shown(await self._front.observe())

    async def observe(self) -> Observation:
        """The screen and its controls now."""
        return self._shown(await self._in_front().observe())

    async def act(self, action: Action) -> Observation:
        """Carry out `action` on the last observation and observe; see the protocol."""
        front, seen = self._in_front(), self._seen
        assert seen is not None
        try:
            target = aim(action, seen.controls, seen.screen_size).target
        except ActionInvalidError:
            self._log.step += 1
            raise
        if target is None or target.label not in self._leads:
            return self._shown(await front.act(action))
        member, label, text = self._leads[target.label]
        if not isinstance(action, ClickInput):
            self._log.step += 1
            self._log.note(action, target, seen.controls, OWNER)
            return await self.observe()
        if member is not front:
            label = await self._change_to(member, text)
        return self._shown(await member.act(ClickInput(control_label=label)))

    async def bring_to_front(self, application: str) -> Observation:
        """Put an application of the last reset in front, as a click on the task bar does."""
        member = self._member_of.get(application)
        if member is None:
            known = ", ".join(self._member_of) or "none"
            raise ActionInvalidError(f"No application {application!r} was started; started: {known}.")
        if member is not self._front:
            self._front = member
            await self._share()
        return self._shown(await member.bring_to_front(application))

    async def evidence(self) -> Evidence:
        """Everything the checks may read: of what is in front, with the files and states of all."""
        front = self._in_front()
        others = [member for member in self._titles if member is not front]
        shown, *beside = await asyncio.gather(*(member.evidence() for member in (front, *others)))
        there = {file.path for file in shown.files}
        further = {
            file.path: file
            for evidence in beside
            for file in evidence.files
            if file.path not in there and file.path not in self._common  # that one is gone from the front
        }
        everything = (shown, *beside)
        folders = {path for evidence in beside for path in evidence.directories} - self._common.keys()
        return shown.model_copy(
            update={
                "files": tuple(sorted((*shown.files, *further.values()), key=lambda file: file.path)),
                "directories": tuple(sorted(folders.union(shown.directories))),
                "unseen": tuple(sorted({name for item in everything for name in item.unseen})),
                "blocked_requests": tuple(
                    dict.fromkeys(address for item in everything for address in item.blocked_requests)
                ),
                "noise": tuple(dict.fromkeys(place for item in everything for place in item.noise)),
            }
        )

    async def rest(self) -> None:
        """Stop what the last reset started."""
        await asyncio.gather(*(member.rest() for member in self._members))

    async def close(self) -> None:
        """Stop every process and remove every file of all members. May be called twice."""
        self._front, self._seen = None, None
        await asyncio.gather(*(member.close() for member in self._members))

    def _in_front(self) -> Member:
        if self._front is None:
            raise EnvironmentBrokenError("The environment must be reset before anything can be done in it.")
        return self._front

    async def _change_to(self, member: Member, text: str) -> str:
        """Put another platform in front; the label of its button with `text`, unless that is closed."""
        self._front = member
        await self._share()
        seen = await member.observe()
        for control in seen.controls:
            if _is_button(control) and control.text == text:
                return control.label
        self._shown(seen)
        self._log.step += 1
        raise ActionInvalidError(f"{text!r} is closed by now.")

    async def _share(self) -> None:
        """Bring home and clipboard of all members to one state; where two changed a file, the one that was
        not in front before gives way."""
        members = sorted(self._titles, key=lambda member: member is self._front)
        if len(members) < 2:
            return
        told = await asyncio.gather(*(member.belongings() for member in members))
        wanted, text = dict(self._common), ""
        for member, (files, copied) in reversed(list(zip(members, told, strict=True))):
            changed = {path: files[path] for path in files if self._differs(path, files)}
            wanted |= changed
            for path in self._common.keys() - files.keys():
                wanted.pop(path, None)
            text = copied if copied != self._texts.get(member, "") else text
        for member, (files, copied) in zip(members, told, strict=True):
            new = {path: wanted[path] for path in wanted if path not in files or files[path] != wanted[path]}
            gone = sorted(files.keys() - wanted.keys(), reverse=True)
            self._texts[member] = text or copied
            if new or gone or self._texts[member] != copied:
                await member.take_over(new, gone, text)
        self._common = wanted

    def _differs(self, path: str, files: Files) -> bool:
        return path not in self._common or self._common[path] != files[path]

    def _shown(self, seen: Observation) -> Observation:
        """What the member in front shows, with a task bar that leads to all."""
        front = self._in_front()
        buttons = [control for control in seen.controls if _is_button(control)]
        tabs = [control for control in buttons if control.checked is not None]
        commands = [control for control in buttons if control.checked is None]
        self._titles[front] = tuple(control.text for control in tabs)
        places: list[tuple[Member, str, str]] = [(front, control.label, control.text) for control in commands]
        active = 0
        for member, titles in self._titles.items():
            labels = [control.label for control in tabs] if member is front else [""] * len(titles)
            if member is front:
                chosen = next((index for index, control in enumerate(tabs) if control.checked), 0)
                active = len(places) - len(commands) + chosen
            places += [(member, label, title) for label, title in zip(labels, titles, strict=True)]
        bar = lay_out(
            [text for _, _, text in places[len(commands) :]],
            active,
            seen.screen_size,
            [(control.text, "") for control in commands],
        )
        others = [control for control in seen.controls if not _is_button(control)]
        first = 1 + max((int(control.label) for control in seen.controls), default=0)
        controls = as_controls(bar, first)
        self._leads = {control.label: place for control, place in zip(controls, places, strict=False)}
        self._seen = seen.model_copy(
            update={
                "controls": (*others, *controls),
                "screenshot": _with_bar(seen.screenshot, bar, seen.screen_size),
            }
        )
        return self._seen


def _is_button(control: Control) -> bool:
    return control.application == OWNER and control.control_type == TASK_BAR_BUTTON


def _with_bar(seen: Screenshot, bar: Sequence[TaskBarButton], screen_size: tuple[int, int]) -> Screenshot:
    if not seen.png:
        return seen
    width, height = screen_size
    with Image.open(io.BytesIO(seen.png)) as opened:
        screen = opened.convert("RGB")
    drawn = Image.frombytes("RGB", (width, TASK_BAR_HEIGHT), bar_pixels(bar, width))
    screen.paste(drawn, (0, height - TASK_BAR_HEIGHT))
    output = io.BytesIO()
    screen.save(output, "PNG", compress_level=1)
    return Screenshot.of(output.getvalue())
