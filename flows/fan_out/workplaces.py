"""What a worker opens for the errands of a run: environments, the sandbox, and the line home; kept open
between errands."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.fan_out.frames import portable
from taskloom.flows.fan_out.home import HomeAddress
from taskloom.flows.wiring import Done, Errand, Workplace, environment_pool, sandbox_settings
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask


@dataclass(slots=True)
class RemoteWorkplace:
    """The place of one run in one worker."""

    home: HomeAddress
    """Where the run answers."""
    place: Workplace | None = None
    """What errands work with, once it is open."""
    edition: int = 0
    """State of the applications that it knows."""
    verified: dict[str, VerifiedSubtask] = field(default_factory=dict)
    """Verified subtasks that it was told of."""
    resources: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Closes what is open."""
    users: int = 0
    """Errands under way."""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the errand that opens the place, or learns of new applications."""

    async def opened(self, edition: int) -> Workplace:
        """The place, with applications at least as new as `edition`."""
        async with self.opening:
            if self.place is None:
                run_id, settings = await self.home.settings()
                applications = await self.home.applications()
                sandbox = EvaluationSandbox(sandbox_settings(settings))
                self.resources.enter_context(sandbox)
                environments = environment_pool(settings)
                self.resources.push_async_callback(environments.close)
                self.place = Workplace(
                    run_id=run_id,
                    settings=settings,
                    applications=applications,
                    models=self.home,
                    player_at_home=lambda agent: replace(self.home, player=agent),
                    environments=environments,
                    sandbox=sandbox,
                )
                self.edition = edition
            if self.edition < edition:
                self.place.applications = await self.home.applications()
                self.edition = edition
        return self.place

    async def subtasks(self, names: Sequence[str]) -> Mapping[str, VerifiedSubtask]:
        """Verified subtasks, asked for once each."""
        missing = [name for name in names if name not in self.verified]
        if missing:
            self.verified.update(await self.home.subtasks(missing))
        return {name: self.verified[name] for name in names}


_places: dict[HomeAddress, RemoteWorkplace] = {}
"""What is open in this process, by run."""


async def do_errand(home: HomeAddress, edition: int, errand: Errand[Done]) -> Done | Exception:
    """Do one errand of the run that answers at `home`; an error is returned, so that it travels as what it
    is."""
    remote = _places.setdefault(home, RemoteWorkplace(home))
    remote.users += 1
    try:
        for left in [other.home for other in _places.values() if not other.users]:
            await leave(left)  # its run ended without a word, or will ask again
        return await errand.do(await remote.opened(edition), remote.subtasks)
    except Exception as error:
        return portable(error)
    finally:
        remote.users -= 1


async def leave(home: HomeAddress) -> None:
    """Close what is open for the run that answered at `home`."""
    remote = _places.pop(home, None)
    if remote is not None:
        await remote.resources.aclose()
