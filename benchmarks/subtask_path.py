"""Which modules one subtask travels through, from the catalogue to Parquet: `python -m benchmarks
subtask_path`.

A small build on the simulated platform is watched: every call of a function of ours that is given a record of
the chosen subtask (its entry, the subtask, an instance, a trajectory, a function, a task made of it). A
module that hands such a record on to another module is on the path: a reader who follows the subtask has to
open it. A module that is only given one, and answers, is a detail that can be read when it is needed. Records
themselves and the queue of the loop are not counted.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings

ROOT = Path(__file__).parents[1]
SUBTASK = "simulated_files.copy_text"
ROOMS = (
    "cli",
    "environments",
    "evaluators_api",
    "flows",
    "model_clients",
    "offline",
    "prompts",
    "resources",
    "synthesis",
    "warehouse",
)
RECORDS = ("taskloom.resources.applications", "taskloom.resources.record", "taskloom.resources.instances")
"""Modules of rooms above that only define records; all of taskgraph is left out for the same reason."""
_LONGEST_LIST = 100
_PARTS = ("subtask", "instance", "task", "trajectory")


class Watch:
    """Notes who is given a record of the subtask, and by whom."""

    def __init__(self, subtask_id: str) -> None:
        """Watch for records of `subtask_id`."""
        self.subtask_id = subtask_id
        self.given: dict[str, int] = {}
        self.handed: dict[tuple[str, str], int] = {}
        self._modules: dict[CodeType, str] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """A trace function of `sys`, which is told of every call and asks for nothing inside it."""
        if event != "call":
            return
        module = self._module(frame.f_code)
        if not module or not self._is_given(frame):
            return
        self.given[module] = self.given.get(module, 0) + 1
        caller = frame.f_back
        while caller is not None and not self._module(caller.f_code):
            caller = caller.f_back
        if caller is not None and self._module(caller.f_code) != module:
            pair = self._module(caller.f_code), module
            self.handed[pair] = self.handed.get(pair, 0) + 1

    def _module(self, code: CodeType) -> str:
        """The module of ours that the code belongs to; empty for any other."""
        found = self._modules.get(code)
        if found is None:
            path = Path(code.co_filename)
            path = path.resolve() if path.is_absolute() else path
            inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ROOMS
            found = ".".join(("taskloom", *path.relative_to(ROOT).with_suffix("").parts)) if inside else ""
            found = "" if found in RECORDS else found
            self._modules[code] = found
        return found

    def _is_given(self, frame: FrameType) -> bool:
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return any(self._is_about(frame.f_locals.get(name)) for name in names if name != "self")

    def _is_about(self, value: object, deeper: bool = True) -> bool:
        if isinstance(value, list | tuple):
            few = (item for item, _ in zip(value, range(_LONGEST_LIST), strict=False))
            return deeper and any(self._is_about(item, deeper=False) for item in few)
        if type(value).__module__.partition(".")[0] != "taskloom":
            return False
        if self._names(value) or any(self._names(_field(value, name)) for name in _PARTS):
            return True
        nodes = _field(_field(value, "graph"), "nodes")
        return isinstance(nodes, tuple) and any(self._names(node) for node in nodes)

    def _names(self, value: object) -> bool:
        wanted = _field(value, "subtask_id") or (
            f"{SUBTASK.partition('.')[0]}.{_field(value, 'name')}"
            if _field(value, "instruction_template")
            else ""
        )
        return wanted == self.subtask_id


def _field(value: object, name: str) -> object:
    """A field of a record; None where it has none of that name."""
    fields = getattr(type(value), "model_fields", None) or getattr(type(value), "__dataclass_fields__", {})
    return getattr(value, name, None) if name in fields else None


def watched_build(data: Path) -> Watch:
    """The watch after a small build, whose steps are done here one after the other, without Prefect."""
    from taskloom.flows.settings import load_settings

    assignments = (
        "platform=simulated",
        "composition.count=4",
        "composition.subtask_share=1",
        "intents.wanted=2",
        "exploration.subtasks_per_application=2",
    )
    settings = load_settings(assignments=assignments, data=data)
    watch = Watch(SUBTASK)
    threading.settrace(watch)
    sys.settrace(watch)
    try:
        asyncio.run(_build(settings))
    finally:
        sys.settrace(None)
        threading.settrace(None)
    return watch


async def _build(settings: Settings) -> None:
    from taskloom.flows.stages.growing import PoolGrowth
    from taskloom.flows.stages.making import TaskMaking
    from taskloom.flows.wiring import open_run

    async with open_run(settings, "build_dataset", quiet=True) as run:
        growth = PoolGrowth(run)
        explored = [await growth.explore(item) for item in run.applications.values()]
        await growth.all_explored()
        verified = await asyncio.gather(*(growth.verify(item) for item in explored))
        names = [name for names in verified for name in names]
        making = TaskMaking(run, growth.verified)
        intents = await making.extract(names)
        for tasks in await making.compose(names, intents):
            covered = await making.replays.cover(tasks)
            await making.validate(covered)
            await making.replays.replay(covered[:1])
        await making.publish()


def main() -> None:
    """Print both lists."""
    with tempfile.TemporaryDirectory() as folder:
        watch = watched_build(Path(folder))
    handing = sorted({giver for giver, _ in watch.handed})
    print(f"{SUBTASK}: {len(handing)} modules hand it on, {len(watch.given)} are given it")
    for giver in handing:
        to = sorted(taker for one, taker in watch.handed if one == giver)
        print(f"  {giver} -> {', '.join(to)}")
    print("given it and only answering:")
    print("  " + ", ".join(sorted(watch.given.keys() - set(handing))))


if __name__ == "__main__":
    main()
