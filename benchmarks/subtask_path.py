"""The modules that one subtask passes through, from the catalogue to Parquet: `python -m benchmarks
subtask_path`.

Traces a small build on the simulated platform: every call of a function of taskloom that receives a record of
the chosen subtask (its entry, the subtask, an instance, a trajectory, a function, a task made of it). A
module that passes such a record on to another module is on the path: a reader who follows the subtask has to
open it. A module that only receives one and returns is a detail that can be read when needed. Records
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
PACKAGES = (
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
RECORD_MODULES = (
    "taskloom.resources.applications",
    "taskloom.resources.record",
    "taskloom.resources.instances",
)
"""Modules of these packages that only define records; taskgraph is excluded for the same reason."""
_MAXIMUM_ITEMS = 100
_PARTS = ("subtask", "instance", "task", "trajectory")


class Watch:
    """Counts the calls that receive a record of the subtask, by module and by caller."""

    def __init__(self, subtask_id: str) -> None:
        self.subtask_id = subtask_id
        self.receivers: dict[str, int] = {}
        self.handovers: dict[tuple[str, str], int] = {}
        self._modules: dict[CodeType, str] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """A trace function for `sys`, which is called for every call and does not trace inside it."""
        if event != "call":
            return
        module = self._module(frame.f_code)
        if not module or not self._receives_record(frame):
            return
        self.receivers[module] = self.receivers.get(module, 0) + 1
        caller = frame.f_back
        while caller is not None and not self._module(caller.f_code):
            caller = caller.f_back
        if caller is not None and self._module(caller.f_code) != module:
            pair = self._module(caller.f_code), module
            self.handovers[pair] = self.handovers.get(pair, 0) + 1

    def _module(self, code: CodeType) -> str:
        """The module of taskloom that contains the code; empty for any other code."""
        module = self._modules.get(code)
        if module is None:
            path = Path(code.co_filename)
            path = path.resolve() if path.is_absolute() else path
            is_ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES
            module = ".".join(("taskloom", *path.relative_to(ROOT).with_suffix("").parts)) if is_ours else ""
            module = "" if module in RECORD_MODULES else module
            self._modules[code] = module
        return module

    def _receives_record(self, frame: FrameType) -> bool:
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return any(self._concerns_subtask(frame.f_locals.get(name)) for name in names if name != "self")

    def _concerns_subtask(self, value: object, deeper: bool = True) -> bool:
        if isinstance(value, list | tuple):
            few = (item for item, _ in zip(value, range(_MAXIMUM_ITEMS), strict=False))
            return deeper and any(self._concerns_subtask(item, deeper=False) for item in few)
        if type(value).__module__.partition(".")[0] != "taskloom":
            return False
        if self._has_subtask_id(value) or any(self._has_subtask_id(_field(value, name)) for name in _PARTS):
            return True
        nodes = _field(_field(value, "graph"), "nodes")
        return isinstance(nodes, tuple) and any(self._has_subtask_id(node) for node in nodes)

    def _has_subtask_id(self, value: object) -> bool:
        subtask_id = _field(value, "subtask_id") or (
            f"{SUBTASK.partition('.')[0]}.{_field(value, 'name')}"
            if _field(value, "instruction_template")
            else ""
        )
        return subtask_id == self.subtask_id


def _field(value: object, name: str) -> object:
    """A field of a record; None if it has no such field."""
    fields = getattr(type(value), "model_fields", None) or getattr(type(value), "__dataclass_fields__", {})
    return getattr(value, name, None) if name in fields else None


def watched_build(data: Path) -> Watch:
    """The watch after a small build, whose steps are made here in sequence, without Prefect."""
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
    with tempfile.TemporaryDirectory() as folder:
        watch = watched_build(Path(folder))
    senders = sorted({sender for sender, _ in watch.handovers})
    print(f"{SUBTASK}: {len(senders)} modules pass it on, {len(watch.receivers)} receive it")
    for sender in senders:
        targets = sorted(receiver for one, receiver in watch.handovers if one == sender)
        print(f"  {sender} -> {', '.join(targets)}")
    print("modules that only receive it:")
    print("  " + ", ".join(sorted(watch.receivers.keys() - set(senders))))


if __name__ == "__main__":
    main()
