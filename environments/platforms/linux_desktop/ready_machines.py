"""Machines made ahead, so that a reset need not wait for one to start."""

import asyncio
from contextlib import suppress
from pathlib import Path

from taskloom.environments.errors import EnvironmentFailureError
from taskloom.environments.machines.machine import Machine, MachineMaker


class ReadyMachines:
    """Gives clean machines, each to be used once."""

    def __init__(self, make: MachineMaker, folder: Path, ahead: int) -> None:
        """Keep `ahead` machines that `make` made below `folder` ready, from the first one taken."""
        self._make = make
        self._folder = folder
        self._ahead = ahead
        self._coming: list[asyncio.Task[Machine]] = []

    async def take(self) -> Machine:
        """A started machine: one that stands ready, else a new one.

        Raises:
            MachineUnavailableError: none can be started here.
            EnvironmentBrokenError: it did not come up.
        """
        while self._coming:
            coming = self._coming.pop(0)
            with suppress(EnvironmentFailureError):
                machine = await coming
                try:
                    await machine.request("ready")
                except EnvironmentFailureError:
                    await machine.stop()
                    raise
                self._order()
                return machine
        machine = await self._started()
        self._order()
        return machine

    async def close(self) -> None:
        """Stop those that nobody took."""
        coming, self._coming = self._coming, []
        for task in coming:
            with suppress(EnvironmentFailureError):
                await (await task).stop()

    def _order(self) -> None:
        while len(self._coming) < self._ahead:
            task = asyncio.create_task(self._started())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # asked for when taken
            self._coming.append(task)

    async def _started(self) -> Machine:
        machine = self._make(self._folder)
        await machine.start()
        return machine
