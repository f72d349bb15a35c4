import asyncio
from collections.abc import Sequence

import pytest

from taskloom.resources.categories import ResourceKind
from taskloom.synthesis.cross_verification.verification_pool import VerificationPool
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.trajectories.setup_trajectories import SetupTrajectory, made_files
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from tests.synthesis.recordings import recording
from tests.synthesis.simulated_world import APPLICATIONS, CATEGORIES
from tests.synthesis.task_samples import pooled_subtasks

SUBTASKS = {item.subtask.subtask_id: item.subtask for item in pooled_subtasks()}
WRITE, COPY, PASTE = (
    SUBTASKS[f"simulated_notes.{name}"] for name in ("write_note", "copy_note", "paste_note")
)
SEND = SUBTASKS["simulated_mail.send_clipboard"]
FAR = SUBTASKS["simulated_tables.copy_table"]


def pool() -> VerificationPool:
    return VerificationPool(APPLICATIONS, CATEGORIES)


def verified(subtask: Subtask) -> VerifiedSubtask:
    return VerifiedSubtask(
        subtask=subtask,
        function=EvaluationFunction(function_id="f", subtask_id=subtask.subtask_id, source=""),
        trajectories=tuple(
            recording(subtask.subtask_id, parameters, []) for parameters in subtask.available_parameters
        ),
    )


def first(subtask: Subtask) -> BoundSubtask:
    return subtask.bind(subtask.available_parameters[0], CATEGORIES)


def subtask(name: str, *, inputs: str = "", outputs: str = "") -> Subtask:
    """A subtask of the categories given; a fixture is all that it reads besides."""
    declared = {
        "subtask_id": name,
        "inputs": [{"category": inputs}] if inputs else [],
        "outputs": [{"category": outputs}] if outputs else [],
    }
    return Subtask.model_validate({**COPY.model_dump(), **declared})


async def announced(*subtasks: Subtask, settled: Sequence[Subtask] = ()) -> VerificationPool:
    """A pool to which all subtasks are announced, and of which those `settled` are verified already."""
    filled = pool()
    await filled.announce(subtasks)
    await filled.complete()
    for subtask in settled:
        await filled.settle(subtask.subtask_id, verified(subtask))
    return filled


async def asked(filled: VerificationPool, subtask: Subtask) -> asyncio.Task[SetupTrajectory | None]:
    """The question for a setup trajectory, which has to wait."""
    task = asyncio.create_task(filled.setup_trajectory(first(subtask)))
    await asyncio.sleep(0)
    assert not task.done()
    return task


def performers(setup: SetupTrajectory | None) -> list[str]:
    assert setup is not None
    return [instance.subtask_id for instance, _ in setup.performed]


async def test_fixtures_need_no_setup_trajectory() -> None:
    ready = pool()
    await ready.announce([COPY])
    assert performers(await ready.setup_trajectory(first(COPY))) == []


async def test_a_slot_waits_for_its_producer() -> None:
    waiting = await announced(COPY, PASTE)
    task = await asked(waiting, PASTE)
    await waiting.settle(COPY.subtask_id, verified(COPY))
    assert performers(await task) == [COPY.subtask_id]


async def test_a_rejected_producer_ends_the_waiting() -> None:
    waiting = await announced(COPY, PASTE)
    task = await asked(waiting, PASTE)
    await waiting.settle(COPY.subtask_id, None)
    assert await task is None


async def test_nobody_is_told_no_before_all_is_announced() -> None:
    waiting = pool()
    await waiting.announce([PASTE])
    task = await asked(waiting, PASTE)
    await waiting.complete()
    assert await task is None


async def test_subtasks_that_could_only_prepare_each_other_do_not_wait_for_ever() -> None:
    slot = next(name for name, item in CATEGORIES.items() if item.kind is ResourceKind.OPEN_DOCUMENT)
    one = subtask("simulated_notes.one", inputs="text_in_clipboard", outputs=slot)
    two = subtask("simulated_notes.two", inputs=slot, outputs="text_in_clipboard")
    stuck = await announced(one, two)
    assert await asyncio.gather(stuck.setup_trajectory(first(one)), stuck.setup_trajectory(first(two))) == [  # type: ignore[comparison-overlap]
        None,
        None,
    ]


async def test_a_producer_of_the_same_application_is_preferred() -> None:
    ready = pool()
    await ready.announce([PASTE])
    for producer in (FAR, COPY):
        await ready.settle(producer.subtask_id, verified(producer))
    await ready.complete()
    setup = await ready.setup_trajectory(first(PASTE))
    assert setup is not None
    assert [instance.application for instance, _ in setup.performed] == ["simulated_notes"]


async def test_a_file_that_nobody_has_is_made_first() -> None:
    ready = pool()
    needed = first(COPY).model_copy(
        update={
            "inputs": tuple(
                item.model_copy(update={"value": "Documents/todo.txt"}) for item in first(COPY).inputs
            )
        }
    )
    await ready.settle(WRITE.subtask_id, verified(WRITE))
    await ready.complete()
    setup = await ready.setup_trajectory(needed)
    assert setup is not None
    assert made_files([performed for performed, _ in setup.performed]) == {"Documents/todo.txt"}


async def test_other_performances_come_from_the_same_application_first() -> None:
    ready = pool()
    await ready.complete()
    for subtask in (SEND, COPY, PASTE, SUBTASKS["simulated_tables.add_row"]):
        await ready.record(recording(subtask.subtask_id, subtask.available_parameters[0], []))
    others = await ready.others(WRITE, 3)
    assert [item.subtask_id.partition(".")[0] for item in others][:2] == ["simulated_notes"] * 2
    assert len(others) == 3


async def test_waiting_for_others_ends_when_nobody_is_left_to_record() -> None:
    ready = await announced(WRITE, PASTE)
    assert await ready.others(WRITE, 3) == ()


async def test_the_choice_of_a_producer_does_not_depend_on_who_was_done_first() -> None:
    waiting = await announced(COPY, PASTE, FAR, settled=[FAR])
    task = await asked(waiting, PASTE)
    await waiting.settle(COPY.subtask_id, verified(COPY))
    assert performers(await task) == [COPY.subtask_id]


async def test_other_performances_are_those_announced_first_whoever_was_recorded_first() -> None:
    others = [SUBTASKS[f"simulated_notes.{name}"] for name in ("write_note", "copy_note")]
    ready = await announced(*others, PASTE)
    task = asyncio.create_task(ready.others(PASTE, 1))
    second, earlier = (recording(item.subtask_id, item.available_parameters[0], []) for item in others[::-1])
    await ready.record(second)
    await asyncio.sleep(0)
    assert not task.done()
    await ready.record(earlier)
    assert [item.subtask_id for item in await task] == [others[0].subtask_id]


async def test_a_producer_with_several_parameter_sets_gives_each_instance_another_content() -> None:
    ready = await announced(COPY, PASTE, settled=[COPY])
    given = []
    for variant in (0, 1, 2, 3):
        setup = await ready.setup_trajectory(first(PASTE), variant)
        assert setup is not None
        given.append(setup.performed[0][0].parameters["text_path"])
    assert len(set(given)) == len(COPY.available_parameters) == 3
    assert given[3] == given[0]


async def test_others_are_the_same_whether_or_not_a_longer_chain_is_done_already() -> None:
    chosen = []
    for done in ((), (PASTE,)):
        ready = await announced(WRITE, COPY, PASTE, settled=done)
        for item in (COPY, *done):
            await ready.record(recording(item.subtask_id, item.available_parameters[0], []))
        await ready.settle(COPY.subtask_id, verified(COPY))
        chosen.append([item.subtask_id for item in await ready.others(WRITE, 6)])
    assert chosen == [[COPY.subtask_id]] * 2


async def test_a_subtask_that_needs_preparing_is_held_against_others_that_do() -> None:
    ready = await announced(COPY, PASTE, SEND, settled=[COPY])
    await ready.record(recording(COPY.subtask_id, COPY.available_parameters[0], []))
    task = asyncio.create_task(ready.others(PASTE, 6))
    await asyncio.sleep(0)
    assert not task.done()
    await ready.record(recording(SEND.subtask_id, SEND.available_parameters[0], []))
    assert [item.subtask_id for item in await task] == [COPY.subtask_id, SEND.subtask_id]


async def test_nobody_is_waited_for_whose_producers_were_rejected() -> None:
    ready = await announced(COPY, PASTE, SEND)
    task = asyncio.create_task(ready.others(PASTE, 6))
    await ready.settle(COPY.subtask_id, None)
    assert await task == ()


async def test_what_waits_for_a_rejected_subtask_to_be_tried_again_is_not_refused() -> None:
    """An earlier run verified a chain of two; in this run a better first link is open again."""
    slot = next(name for name, item in CATEGORIES.items() if item.kind is ResourceKind.OPEN_DOCUMENT)
    opening = [subtask(f"simulated_notes.{name}", outputs=slot) for name in ("open_a", "open_b")]
    copying = subtask("simulated_notes.copy", inputs=slot, outputs="text_in_clipboard")
    pasting = subtask("simulated_notes.paste", inputs="text_in_clipboard")
    waiting = await announced(*opening, copying, pasting, settled=[opening[1], copying])
    task = await asked(waiting, pasting)
    await waiting.settle(opening[0].subtask_id, None)
    assert performers(await task) == [opening[1].subtask_id, copying.subtask_id]


async def test_two_that_wait_for_each_other_are_both_served() -> None:
    """Copying, one of whose texts must be written first, is compared with pasting, which waits for it."""
    copying = COPY.model_copy(
        update={"available_parameters": (*COPY.available_parameters, {"text_path": "Documents/todo.txt"})}
    )
    circle = await announced(WRITE, copying, PASTE, FAR, settled=[WRITE, FAR])
    await circle.record(recording(WRITE.subtask_id, WRITE.available_parameters[0], []))
    pasted = await asked(circle, PASTE)
    async with asyncio.timeout(5):
        others = await circle.others(copying, 6)
        assert [item.subtask_id for item in others] == [WRITE.subtask_id]
        assert not pasted.done()
        await circle.settle(copying.subtask_id, verified(copying))
        assert performers(await pasted) == [COPY.subtask_id]


@pytest.mark.parametrize("names", [("one", "two"), ("two", "one")])
async def test_of_two_that_wait_the_one_that_can_be_prepared_makes_do(names: tuple[str, str]) -> None:
    slot = next(name for name, item in CATEGORIES.items() if item.kind is ResourceKind.OPEN_DOCUMENT)
    needy = subtask(f"simulated_notes.{names[0]}", inputs=slot, outputs="text_in_clipboard")
    able = subtask(f"simulated_notes.{names[1]}", inputs="text_in_clipboard", outputs=slot)
    circle = await announced(
        *(item.model_copy(update={"inputs": ()}) for item in (needy, able)), FAR, settled=[FAR]
    )
    waiting, made_do = (asyncio.create_task(circle.setup_trajectory(first(item))) for item in (needy, able))
    async with asyncio.timeout(5):
        assert performers(await made_do) == [FAR.subtask_id]
        assert not waiting.done()
        await circle.settle(able.subtask_id, verified(able.model_copy(update={"inputs": ()})))
        assert performers(await waiting) == [able.subtask_id]


async def test_two_that_would_rather_be_prepared_by_each_other_make_do() -> None:
    slot = next(name for name, item in CATEGORIES.items() if item.kind is ResourceKind.OPEN_DOCUMENT)
    one = subtask("simulated_notes.one", inputs=slot, outputs="text_in_clipboard")
    two = subtask("simulated_notes.two", inputs="text_in_clipboard", outputs=slot)
    both = [item.model_copy(update={"inputs": ()}) for item in (one, two)]
    circle = await announced(*both, FAR, subtask("simulated_notes.z_open", outputs=slot))
    for producer in (FAR, subtask("simulated_notes.z_open", outputs=slot)):
        await circle.settle(producer.subtask_id, verified(producer))
    made_do, waiting = (asyncio.create_task(circle.setup_trajectory(first(item))) for item in (one, two))
    async with asyncio.timeout(5):
        assert performers(await made_do) == ["simulated_notes.z_open"]
        assert not waiting.done()
        await circle.settle(one.subtask_id, verified(both[0]))
        assert performers(await waiting) == [one.subtask_id]
