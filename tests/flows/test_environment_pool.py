"""The pool shares environments and survives broken ones."""

import asyncio
from pathlib import Path

import pytest

from taskloom.environments.environment import Environment
from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.flows import spare_capacity
from taskloom.flows.running.environment_pool import EnvironmentPool
from taskloom.flows.spare_capacity import SpareCapacity, first_environments, wanted_change
from tests.limits import LONGEST_SECONDS


class IdleEnvironment:
    """An environment that does nothing but count how often it was closed, and how often it rested."""

    platform = "idle"
    simulated = True

    def __init__(self) -> None:
        self.closed = self.rested = 0

    async def rest(self) -> None:
        self.rested += 1

    async def close(self) -> None:
        self.closed += 1


class Fed:
    """A machine that feeds so many environments."""

    def __init__(self, environments: int) -> None:
        self.environments = environments

    def change(self, environments: int) -> int:
        return (self.environments > environments) - (self.environments < environments)


def make_pool(size: int, free: float = 8) -> tuple[EnvironmentPool, list[IdleEnvironment]]:
    made: list[IdleEnvironment] = []

    def create(platform: str) -> Environment:
        made.append(IdleEnvironment())
        return made[-1]  # type: ignore[return-value]

    return EnvironmentPool(create, size, free=lambda: free), made


async def most_in_use(pool: EnvironmentPool, applications: list[str], items: int) -> int:
    """How many of so many items hold an environment at once, at most."""
    in_use = most = 0

    async def use() -> None:
        nonlocal in_use, most
        async with pool.lease("idle", applications):
            in_use += 1
            most = max(most, in_use)
            await asyncio.sleep(0)
            in_use -= 1

    await asyncio.gather(*(use() for _ in range(items)))
    return most


async def test_no_more_environments_are_made_than_are_in_use_at_once() -> None:
    pool, made = make_pool(2)
    assert await most_in_use(pool, ["notes"], 9) == 2
    assert len(made) == 2


async def test_a_broken_environment_is_closed_and_not_used_again() -> None:
    pool, made = make_pool(1)
    with pytest.raises(EnvironmentBrokenError):
        async with pool.lease("idle", ["notes"]):
            raise EnvironmentBrokenError("the browser died")
    async with pool.lease("idle", ["notes"]) as environment:
        assert environment is made[1]  # type: ignore[comparison-overlap]
    assert [item.closed for item in made] == [1, 0]


async def test_an_item_that_fails_for_its_own_reasons_gives_the_environment_back() -> None:
    pool, made = make_pool(1)
    with pytest.raises(ValueError, match="item"):
        async with pool.lease("idle", ["notes"]):
            raise ValueError("item")
    async with pool.lease("idle", ["notes"]) as environment:
        assert environment is made[0]  # type: ignore[comparison-overlap]
    assert made[0].closed == 0


async def test_close_closes_all() -> None:
    pool, made = make_pool(2)
    async with pool.lease("idle", ["notes"]), pool.lease("idle", ["notes"]):
        pass
    await pool.close()
    assert [item.closed for item in made] == [1, 1]


async def test_items_with_many_applications_wait_for_memory_and_others_pass_them() -> None:
    pool, _ = make_pool(4, free=1.51)  # ten applications
    open_now = most = 0
    order: list[int] = []

    async def use(applications: int, turns: int) -> None:
        nonlocal open_now, most
        async with pool.lease("idle", [str(number) for number in range(applications)]):
            order.append(applications)
            open_now += applications
            most = max(most, open_now)
            for _ in range(turns):
                await asyncio.sleep(0)
            open_now -= applications

    await asyncio.gather(*(use(applications, 3) for applications in (6, 6, 3, 1, 12, 4)))
    assert sorted(order) == [1, 3, 4, 6, 6, 12]
    assert order[:3] == [6, 3, 1], "the second six waits, what fits does not"
    assert most == 12, "an item that needs more than there is has the machine for itself"


async def test_pages_and_servers_go_when_nobody_waits_for_the_environment() -> None:
    pool, made = make_pool(2)
    async with pool.lease("idle", "abcde"):
        pass
    async with pool.lease("idle", ["notes"]):
        pass
    (environment,) = made
    assert (environment.rested, environment.closed) == (2, 0)


async def test_an_environment_does_not_rest_while_somebody_waits_for_it() -> None:
    pool, made = make_pool(1)
    async with pool.lease("idle", "abcde"):
        waiting = asyncio.ensure_future(use_once(pool))
        await asyncio.sleep(0)
    await asyncio.wait_for(waiting, LONGEST_SECONDS)
    assert made[0].rested == 1, "once, at the end of the second lease"


async def test_a_lease_given_up_while_waiting_leaves_the_others_their_turn() -> None:
    pool, made = make_pool(1)
    async with pool.lease("idle", ["notes"]):
        given_up = asyncio.ensure_future(use_once(pool))
        patient = asyncio.ensure_future(use_once(pool))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
    await asyncio.wait_for(patient, LONGEST_SECONDS)
    assert given_up.cancelled() and len(made) == 1


async def use_once(pool: EnvironmentPool) -> None:
    async with pool.lease("idle", ["notes"]):
        pass


async def test_an_application_goes_to_the_environment_that_ran_it_last() -> None:
    pool, made = make_pool(2)
    async with pool.lease("idle", ["notes"]), pool.lease("idle", ["board"]):
        pass
    for application, environment in (("board", 1), ("notes", 0), ("board", 1), ("tables", 1)):
        async with pool.lease("idle", [application]) as leased:
            assert leased is made[environment], application  # type: ignore[comparison-overlap]


async def test_who_waits_for_what_was_just_open_goes_first_but_nobody_waits_for_ever() -> None:
    pool, _ = make_pool(1)
    order: list[str] = []

    async def use(application: str) -> None:
        async with pool.lease("idle", [application]):
            order.append(application)
            await asyncio.sleep(0)

    await asyncio.gather(*(use(application) for application in ["notes", "board", *["notes"] * 20]))
    assert order[:2] == ["notes", "notes"], "the board passed over"
    assert order.index("board") < 12
    assert len(order) == 22


async def test_a_lease_given_up_when_its_turn_came_frees_the_place() -> None:
    pool, _ = make_pool(1)
    async with pool.lease("idle", ["notes"]):
        given_up = asyncio.ensure_future(use_once(pool))
        await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait_for(use_once(pool), LONGEST_SECONDS)
    assert given_up.cancelled()


async def test_an_item_with_many_applications_does_not_wait_for_ever_for_memory() -> None:
    pool, _ = make_pool(4, free=1.51)
    order: list[int] = []

    async def use(applications: int) -> None:
        async with pool.lease("idle", [str(number) for number in range(applications)]):
            order.append(applications)
            await asyncio.sleep(0)

    await asyncio.gather(*(use(applications) for applications in [1, 1, 1, 10, *[1] * 60]))
    assert order.index(10) < 20


async def test_there_are_more_environments_while_items_wait_and_the_machine_feeds_more() -> None:
    machine = Fed(3)
    pool = EnvironmentPool(lambda _: IdleEnvironment(), 1, machine=machine, look_every=0)  # type: ignore[arg-type,return-value]
    in_use = 0
    reached, over = asyncio.Event(), asyncio.Event()

    async def use() -> None:
        nonlocal in_use
        async with pool.lease("idle", ["notes"]):
            in_use += 1
            if in_use == machine.environments:
                reached.set()
            await over.wait()
            in_use -= 1

    items = [asyncio.create_task(use()) for _ in range(5)]
    await asyncio.wait_for(reached.wait(), LONGEST_SECONDS)
    for _ in range(20):
        await asyncio.sleep(0)
    assert in_use == 3
    machine.environments = 1
    for _ in range(20):
        await asyncio.sleep(0)
    over.set()
    await asyncio.wait_for(asyncio.gather(*items), LONGEST_SECONDS)
    over.clear()
    reached.clear()
    again = [asyncio.create_task(use()) for _ in range(2)]
    await asyncio.wait_for(reached.wait(), LONGEST_SECONDS)
    for _ in range(20):
        await asyncio.sleep(0)
    assert in_use == 1
    over.set()
    await asyncio.gather(*again)
    await pool.close()


@pytest.mark.parametrize(
    ("idle", "free", "environments", "change"),
    [
        (0.5, 8.0, 4, 1),
        (0.5, 1.5, 4, 0),
        (0.5, 8.0, 64, 0),
        (0.1, 8.0, 4, 0),
        (0.0, 8.0, 5, -1),
        (0.0, 8.0, 4, 0),
        (0.5, 0.5, 4, -1),
        (0.0, 0.1, 1, 0),
    ],
)
def test_idle_processors_and_memory_make_room(
    idle: float, free: float, environments: int, change: int
) -> None:
    assert wanted_change(idle, free, environments, 4) == change


def test_this_machine_feeds_at_least_one() -> None:
    assert 1 <= first_environments() <= 64
    assert SpareCapacity().change(1) in (0, 1)


def test_a_limit_of_the_container_is_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "cpu.max": "50000 100000",
        "cpu.stat": "usage_usec 0\nuser_usec 0",
        "memory.max": "3000000000",
        "memory.current": "2500000000",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(spare_capacity, "_CONTROL_GROUP", tmp_path)
    assert spare_capacity.cores() == 0.5
    assert spare_capacity.free_gb() <= 0.5
    room = SpareCapacity()
    (tmp_path / "memory.current").write_text("0")
    assert room.change(1) == (spare_capacity.free_gb() >= 2)


def test_memory_that_only_caches_files_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, used = 400_000_000, 390_000_000
    (tmp_path / "memory.max").write_text(str(limit))
    (tmp_path / "memory.current").write_text(str(used))
    (tmp_path / "memory.stat").write_text("anon 90000000\ninactive_file 300000000\nactive_file 0\n")
    monkeypatch.setattr(spare_capacity, "_CONTROL_GROUP", tmp_path)
    assert spare_capacity.free_gb() == pytest.approx(0.31)


def test_cores_of_others_are_not_idle_for_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = tmp_path / "stat"
    monkeypatch.setattr(spare_capacity, "_CONTROL_GROUP", tmp_path)
    monkeypatch.setattr(spare_capacity, "_STAT", stat)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1})
    stat.write_text("cpu 9 9 9 0 0 9\ncpu0 9 9 9 0 0 9\ncpu1 9 9 9 0 0 9\nintr 5\n")
    room = SpareCapacity(1)
    stat.write_text("cpu 9 9 9 90000 0 9\ncpu0 9 9 9 90000 0 9\ncpu1 9 9 9 0 0 9\nintr 5\n")
    assert room.change(2) == -1


@pytest.mark.parametrize("busy", [True, False])
async def test_environments_that_are_too_many_are_closed_not_only_left_alone(busy: bool) -> None:
    machine = Fed(3)
    made: list[IdleEnvironment] = []

    def create(_: str) -> IdleEnvironment:
        made.append(IdleEnvironment())
        return made[-1]

    pool = EnvironmentPool(create, 3, machine=machine, look_every=0)  # type: ignore[arg-type]
    over = asyncio.Event()

    async def use() -> None:
        async with pool.lease("idle", ["notes"]):
            await over.wait()

    items = [asyncio.create_task(use()) for _ in range(3)]
    await asyncio.sleep(0)
    if not busy:
        over.set()
        await asyncio.gather(*items)
    machine.environments = 1
    for _ in range(20):
        await asyncio.sleep(0)
    over.set()
    await asyncio.gather(*items)
    assert sorted(item.closed for item in made) == [0, 1, 1]
    await pool.close()
    assert [item.closed for item in made] == [1, 1, 1]


@pytest.mark.parametrize(("ahead", "leased"), [(0, 4), (1, 5), (None, 6)])
async def test_environments_are_made_ready_while_others_are_acted_in(ahead: int | None, leased: int) -> None:
    pool, _ = make_pool(4)
    pool.make_ahead(ahead)
    assert await most_in_use(pool, ["notes"], 9) == leased
