"""What opening links changes is noise only where nobody works by it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import pytest

from taskloom.environments.platforms.simulated.platform import (
    SimulatedEnvironment,
    SimulatedSettings,
    applications,
)
from taskloom.environments.starting_place import TASK_BAR_BUTTON
from taskloom.resources.applications import Application
from taskloom.synthesis.noise.noise import measure_noise
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, ClickInput, Observation, WaitInput
from taskloom.taskgraph.records.provenance import Provenance
from tests.evaluators_api.state.evidence import evidence
from tests.synthesis.visits import SHORT, visits


class Site(SimulatedEnvironment):
    """An application with links on its first page; `links` says what opening each of them does."""

    def __init__(self, *links: str) -> None:
        super().__init__(SimulatedSettings())
        self.links, self.page, self.opened = list(links), "", list[str]()
        self.says = ""
        self.files = {"pages.db": visits(1), "visits.db": visits(0)}

    async def observe(self) -> Observation:
        seen = await super().observe()
        template = seen.controls[0].model_copy(update={"control_type": "Hyperlink"})
        links = [
            template.model_copy(update={"label": f"to {place}", "text": text})
            for place, text in enumerate(self.links)
        ]
        bar = [item for item in seen.controls if item.control_type == TASK_BAR_BUTTON]
        said = template.model_copy(update={"label": "said", "control_type": "Text", "text": self.says})
        shown = [said, *bar] if self.page else [*links, *bar]
        return seen.model_copy(update={"controls": tuple(shown), "url": f"http://site/{self.page}"})

    async def act(self, action: Action) -> Observation:
        if isinstance(action, ClickInput) and action.control_label.startswith("to "):
            name = self.links[int(action.control_label[3:])]
            self.opened.append(name)
            self.page = name
            self.follow(name)
            return await self.observe()
        if isinstance(action, ClickInput):
            self.page = ""
        return await super().act(WaitInput(seconds=0))

    def follow(self, name: str) -> None:
        """Opening a page is noted, and the page is kept under a name made of its own."""
        cached = f"cache/{hashlib.sha256(name.encode()).hexdigest()}.html"
        self.files |= {"visits.db": visits(*range(len(self.opened) + 1)), cached: name}

    async def evidence(self) -> Evidence:
        found = await super().evidence()
        made = {f".applications/{applications()[0].name}/{path}": text for path, text in self.files.items()}
        made |= {f"Downloads/{name}": name for name in self.opened}
        return found.model_copy(update={"files": evidence(made).files})


async def looked_at(site: Site) -> dict[str, str]:
    """Kinds of what is noise in the application's folder, by path and address."""
    try:
        found = await measure_noise(applications()[:1], site, SHORT, Provenance())
    finally:
        await site.close()
    within = f".applications/{applications()[0].name}/"
    return {
        "/".join((item.container.removeprefix(within), *item.address)): item.kind for item in found.places
    }


async def test_what_opening_several_links_changes_in_the_applications_own_data_is_noise() -> None:
    site = Site("one", "two", "three", "four", "five", "six")
    assert await looked_at(site) == {
        "visits.db/visits/rows/*": "added",
        "cache/*.html": "added",
    }
    twice = [name for name in ("one", "three", "five", "two", "four", "six") for _ in range(2)]
    assert site.opened == twice, "others in each recording, again where something changed"


@pytest.mark.parametrize(("reset", "opened"), [((), 0), (("true",), 12)])
async def test_links_of_what_is_in_use_are_opened_only_where_it_can_be_put_back(
    reset: tuple[str, ...], opened: int
) -> None:
    site = Site("one", "two", "three", "four", "five", "six")
    launch = applications()[0].launch.model_copy(
        update={"address": "http://127.0.0.1:5000/", "reset_command": reset}
    )
    running = applications()[0].model_copy(update={"launch": launch})
    try:
        await measure_noise([running], site, SHORT, Provenance())
    finally:
        await site.close()
    assert len(site.opened) == opened


class Deeds(Site):
    """Links that do work on the pages of the application."""

    def __init__(self, deed: str) -> None:
        super().__init__("one", "two", "three", "four")
        self.deed = deed

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        self.files, self.links = {"pages.db": visits(1, 2, 3, 4, 5)}, ["one", "two", "three", "four"]
        self.page = ""
        if self.deed == "on rows":
            self.links = ["start"] * 4
        return await super().reset(applications, without=without)

    def follow(self, name: str) -> None:
        number = len(self.opened) + 5
        self.files["pages.db"] = visits(1, 2, 3, 4, 5, number)
        if self.deed == "loses":
            self.files["pages.db"] = visits(*range(1, 6 - len(self.opened)))
        elif self.deed == "stays":
            self.page = ""
        elif self.deed == "changes the first page":
            self.links = [f"{text} done" if text == name else text for text in self.links]
        elif self.deed == "adds to the first page":
            self.links = [*self.links, f"{name} again"]
        elif (self.deed == "alone" and name != "two") or (self.deed == "of half" and name > "p"):
            self.files["pages.db"] = visits(1, 2, 3, 4, 5)
        elif self.deed == "leads elsewhere":
            self.page = f"{name}/{number}"
        elif self.deed == "says so" and len(self.opened) % 2:
            self.says = "Added."
        elif self.deed == "says so":
            self.files["pages.db"], self.says = visits(1, 2, 3, 4, 5), "It is there."


DEEDS = (
    "loses",
    "stays",
    "changes the first page",
    "adds to the first page",
    "alone",
    "of half",
    "leads elsewhere",
    "says so",
    "on rows",
)


@pytest.mark.parametrize("deed", DEEDS)
async def test_what_links_do_that_work_is_no_noise(deed: str) -> None:
    site = Deeds(deed)
    assert await looked_at(site) == {}
    assert bool(site.opened) is (deed != "on rows")


async def test_the_same_deed_of_links_that_only_lead_to_pages_is_noise() -> None:
    assert await looked_at(Deeds("looks")) == {"pages.db/visits/rows/*": "added"}


class SignedIn(Site):
    """One of its links signs out, and then there is only the page to sign in."""

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        self.links, self.page = ["leave", "one", "two", "three"], ""
        return await super().reset(applications, without=without)

    def follow(self, name: str) -> None:
        super().follow(name)
        if name == "leave":
            self.links = ["enter"]


async def test_after_a_link_that_signs_out_the_others_are_looked_at_all_the_same() -> None:
    site = SignedIn()
    assert await looked_at(site) == {"visits.db/visits/rows/*": "added", "cache/*.html": "added"}
    assert site.opened == ["leave", "two", "two", "one", "one", "three", "three"]


class Ticking(Site):
    """Its first page tells how often it was shown."""

    async def observe(self) -> Observation:
        seen = await super().observe()
        self.shown = getattr(self, "shown", 0) + 1
        clock = seen.controls[-1].model_copy(update={"label": "clock", "text": f"shown {self.shown} times"})
        return seen if self.page else seen.model_copy(update={"controls": (*seen.controls, clock)})


async def test_what_the_first_page_changes_by_itself_does_not_matter() -> None:
    assert (await looked_at(Ticking("one", "two", "three"))).keys() >= {"visits.db/visits/rows/*"}
