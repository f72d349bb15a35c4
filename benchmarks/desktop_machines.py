"""Machines of the Linux desktop: `python -m benchmarks desktop_machines`.

Steps through the server compared with a bare loop in the same machine that does the same directly: a click,
five keys, 60 milliseconds, the control tree, a picture as PNG. Then trees, memory, resets, four machines at
once.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.run import Figure, NotMeasuredError
from taskloom.environments.lookup import missing_for_start, platform
from taskloom.environments.machines.machine import Machine
from taskloom.environments.platforms.linux_desktop.platform import container_maker
from taskloom.environments.platforms.linux_desktop.settings import LinuxDesktopSettings
from taskloom.resources.reading.catalog import load_applications

DATA = Path(os.environ.get("TASKLOOM_DATA", "taskloom-data"))
BARE_LOOP = """
import asyncio, io, sys, time
from PIL import ImageGrab
from Xlib import X, XK, display
from Xlib.ext import xtest
from taskloom.environments.platforms.linux_desktop.server.accessibility import Accessibility
async def main(steps):
    tree = Accessibility(); await tree.connect(); d = display.Display(); await tree.forest()
    began = time.perf_counter()
    for _ in range(steps):
        xtest.fake_input(d, X.MotionNotify, x=600, y=400)
        xtest.fake_input(d, X.ButtonPress, 1); xtest.fake_input(d, X.ButtonRelease, 1)
        for character in "word ":
            code = d.keysym_to_keycode(XK.string_to_keysym("space" if character == " " else character))
            xtest.fake_input(d, X.KeyPress, code); xtest.fake_input(d, X.KeyRelease, code)
        d.sync(); await asyncio.sleep(0.06); await tree.forest()
        ImageGrab.grab(xdisplay=":0").save(io.BytesIO(), "PNG", compress_level=1)
    print(time.perf_counter() - began)
asyncio.run(main(int(sys.argv[1])))
"""
# The proportional share of memory (PSS, in kB) of all processes of the machine, each page counted once.
MEMORY = """
from pathlib import Path
total = 0
for path in Path("/proc").glob("[0-9]*/smaps_rollup"):
    try:
        total += sum(int(line.split()[1]) for line in path.open() if line.startswith("Pss:"))
    except OSError:
        pass
print(total)
"""
MACHINES = 4
STEP = [
    {"kind": "move", "point": (600, 400)},
    {"kind": "button_down", "point": (600, 400)},
    {"kind": "button_up", "point": (600, 400)},
    {"kind": "keys", "presses": [(character, ()) for character in "word "]},
]


def figures(quick: bool) -> list[Figure]:
    """Steps, trees and resets."""
    application = load_applications()["mousepad"]
    reason = missing_for_start(application, DATA)
    if reason:
        raise NotMeasuredError(reason)
    return asyncio.run(_measure(20 if quick else 60, 3 if quick else 8))


async def _measure(steps: int, resets: int) -> list[Figure]:
    application = load_applications()["mousepad"]
    module = platform("linux_desktop")
    settings = LinuxDesktopSettings(data_folder=DATA)
    environment = module.create(settings)
    seconds = []
    try:
        for _ in range(resets):
            began = time.perf_counter()
            await environment.reset([application])
            seconds.append(time.perf_counter() - began)
    finally:
        await environment.close()
    folder = Path("/tmp") / f"taskloom-benchmark-{os.getpid()}"
    machine = container_maker(settings)(folder)
    try:
        await _start(machine)
        bare, ours = [], []
        for _ in range(3):  # in turns, so that other work disturbs both equally
            bare.append(await _bare_steps(machine, steps))
            ours.append(await _server_steps(machine, steps))
        trees = await _time_trees(machine)
        memory = await _measure_memory(machine)
        await _open(machine, "gnumeric")
        sheet = await _time_trees(machine)
    finally:
        await machine.stop()
    together = await _side_by_side([container_maker(settings)(folder) for _ in range(MACHINES)], steps)
    shared = MACHINES * statistics.median(ours) / together
    ratio = statistics.median(bare) / statistics.median(ours)
    return [
        Figure(
            "steps through the server",
            ratio,
            "of the bare loop",
            "0.9 or more",
            ratio >= 0.9,
            "the same inputs, tree and picture in a loop inside the machine",
            f"{steps / statistics.median(ours):.1f} steps a second",
        ),
        Figure("one tree of Mousepad", min(trees) * 1000, "ms", "below 50", min(trees) < 0.05),
        Figure("one tree of a sheet in Gnumeric", min(sheet) * 1000, "ms", "below 500", min(sheet) < 0.5),
        Figure("memory of a machine with Mousepad", memory, "MB"),
        Figure("reset with a machine made ahead", statistics.median(seconds), "s"),
        Figure(
            f"steps of {MACHINES} machines side by side",
            shared,
            "of one machine alone",
            note=f"{MACHINES * steps / together:.1f} steps a second together",
        ),
    ]


async def _start(machine: Machine) -> None:
    await machine.start()
    await _open(machine, "mousepad")


async def _open(machine: Machine, program: str) -> None:
    await machine.request("start", {"application": program, "command": [program], "seconds": 60})


async def _time_trees(machine: Machine) -> list[float]:
    """Seconds of ten observations without a picture."""
    seconds = []
    for _ in range(10):
        began = time.perf_counter()
        await machine.request("observe", {"picture": False, "quiet": 0})
        seconds.append(time.perf_counter() - began)
    return seconds


async def _measure_memory(machine: Machine) -> float:
    """Memory of all processes of the machine, in megabytes."""
    result = await machine.run(["python3", "-c", MEMORY], seconds=60)
    if result.code:
        raise NotMeasuredError(f"the memory could not be read: {result.errors[-300:]}")
    return float(result.output) / 1024


async def _side_by_side(machines: Sequence[Machine], steps: int) -> float:
    """Seconds until all machines have made their steps, side by side."""
    try:
        await asyncio.gather(*map(_start, machines))
        began = time.perf_counter()
        await asyncio.gather(*(_server_steps(machine, steps) for machine in machines))
        return time.perf_counter() - began
    finally:
        await asyncio.gather(*(machine.stop() for machine in machines))


async def _bare_steps(machine: Machine, steps: int) -> float:
    result = await machine.run(
        ["env", "PYTHONPATH=/opt/machine", "python3", "-c", BARE_LOOP, str(steps)], seconds=300
    )
    if result.code:
        raise NotMeasuredError(f"the bare loop failed: {result.errors[-300:]}")
    return float(result.output)


async def _server_steps(machine: Machine, steps: int) -> float:
    began = time.perf_counter()
    for _ in range(steps):
        await machine.request("act", {"inputs": STEP})
    return time.perf_counter() - began
