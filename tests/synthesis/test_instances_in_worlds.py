"""Instances in several worlds: how they are performed without a recording, verified, and kept apart in
composition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.prompts.replies import EvaluationWriterReply
from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.resources.reading.translation import WorldlyApplications, applications_in, worlds_of
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.compiled_pool import fixture_key
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.cross_verification.function_writing import VerificationSettings, Work
from taskloom.synthesis.cross_verification.performances import Performances
from taskloom.synthesis.cross_verification.verified_subtasks import (
    VerifiedSubtask,
    instances_in_worlds,
    instances_to_verify,
)
from taskloom.synthesis.examination.verdict import Thresholds
from taskloom.synthesis.trajectories.generalisation import performed_with
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    KeyboardInput,
    Rectangle,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis import simulated_world
from tests.synthesis.models import TestModels
from tests.synthesis.recordings import Move, click, note_written, recording, typing, written_instance
from tests.synthesis.simulated_world import World

CATEGORIES = load_resource_categories()
APPLICATIONS = WorldlyApplications(load_applications(), ["bakery-1", "club-2"])


def _subtask(application: str, name: str) -> Subtask:
    entry = APPLICATIONS[application]
    example = next(item for item in entry.example_subtasks if item.name == name)
    return Subtask.of(example.template, entry, origin="curated")


def test_two_trajectories_show_how_it_is_done_with_other_values() -> None:
    first, second = note_written(), note_written("Documents/list.txt", "Sow beans")
    wanted = written_instance("Documents/third.txt", "Mow (twice)")
    found = performed_with([first, second], wanted)
    assert found is not None
    assert found.instance_id == wanted.instance_id and found.parameters == wanted.parameters
    typed = [step.action.keys for step in found.steps if isinstance(step.action, KeyboardInput)]
    assert typed == ["Mow {(}twice{)}"]
    assert [step.target for step in found.steps] == [step.target for step in first.steps]


def test_controls_named_after_a_value_are_looked_for_by_the_new_one() -> None:
    first = recording("wiki.open", {"title": "Plans"}, [click("Plans"), click("Close")])
    second = recording("wiki.open", {"title": "Rules"}, [click("Rules"), click("Close")])
    wanted = written_instance().model_copy(update={"parameters": {"title": "Contacts"}, "instance_id": "x"})
    found = performed_with([first, second], wanted)
    assert found is not None
    assert [step.target.text for step in found.steps if step.target] == ["Contacts", "Close"]


def test_a_record_that_is_named_is_not_looked_for_in_the_row_that_two_others_had() -> None:
    """Both tickets were the fourth; the third may be the fifth. What has no name of its own stays where it
    was."""

    def planned(title: str) -> Trajectory:
        made = recording("tickets.plan", {"title": title}, [click(title), click("Edit"), click("Remove")])
        rows = ("#4", "#4", title)
        steps = tuple(
            step.model_copy(update={"target": step.target.model_copy(update={"row": row})})
            for step, row in zip(made.steps, rows, strict=True)
            if step.target
        )
        return made.model_copy(update={"steps": steps})

    wanted = written_instance().model_copy(update={"parameters": {"title": "Lamp"}, "instance_id": "x"})
    found = performed_with([planned("Till"), planned("Oven")], wanted)
    assert found is not None
    assert [(step.target.text, step.target.row) for step in found.steps if step.target] == [
        ("Lamp", None),
        ("Edit", "#4"),
        ("Remove", "Lamp"),
    ]


def test_the_tab_of_a_document_is_waited_for_under_its_new_name() -> None:
    place = Rectangle(left=0, top=0, right=50, bottom=20)

    def opened(path: str) -> Trajectory:
        tab = Control(
            label="1", text=path.split("/")[-1], control_type="TabItem", rectangle=place, checked=True
        )
        menu = Control(label="2", text="notes.txt", control_type="MenuItem", rectangle=place)
        made = note_written(path)
        steps = tuple(step.model_copy(update={"observation_controls": (tab, menu)}) for step in made.steps)
        return made.model_copy(update={"steps": steps})

    wanted = written_instance("Documents/third.txt", "Mow")
    found = performed_with([opened("Documents/notes.txt"), opened("Documents/list.txt")], wanted)
    assert found is not None
    assert {tuple(c.text for c in step.observation_controls) for step in found.steps} == {
        ("third.txt", "notes.txt")
    }


def test_trajectories_that_differ_beyond_their_values_show_nothing() -> None:
    first, second = note_written(), note_written("Documents/list.txt", "Sow beans")
    other_button = second.model_copy(
        update={
            "steps": tuple(
                step.model_copy(update={"target": step.target.model_copy(update={"text": "Print"})})
                if step.step == 3 and step.target
                else step
                for step in second.steps
            )
        }
    )
    shorter = second.model_copy(update={"steps": second.steps[:-1]})
    wanted = written_instance("Documents/third.txt", "Mow")
    assert performed_with([first, other_button], wanted) is None
    assert performed_with([first, shorter], wanted) is None
    assert performed_with([first, first], wanted) is None


def test_the_wheel_and_a_click_before_typing_may_be_in_one_trajectory_only() -> None:
    first, second = note_written(), note_written("Documents/list.txt", "Sow beans")
    scroll = first.steps[2].model_copy(update={"action": WheelMouseInput(wheel_distance=-3)})
    field = second.steps[1].model_copy(update={"action": ClickInput(control_label="Edit:Text")})
    scrolled = first.model_copy(update={"steps": (*first.steps[:2], scroll, *first.steps[2:])})
    clicked = second.model_copy(update={"steps": (second.steps[0], field, *second.steps[1:])})
    wanted = written_instance("Documents/third.txt", "Mow")
    found = performed_with([scrolled, clicked], wanted)
    assert found is not None
    kinds = [step.action.operation for step in found.steps]
    assert kinds == [
        "click_input",
        "click_input",
        "keyboard_input",
        "wheel_mouse_input",
        "click_input",
        "click_input",
    ]
    assert [step.step for step in found.steps] == [1, 2, 3, 4, 5, 6]


def test_a_click_that_only_one_has_shows_nothing_where_a_value_names_it_or_it_does_more() -> None:
    def written(title: str, *before: Move) -> Trajectory:
        return recording("wiki.write", {"title": title}, [*before, typing("Text", "all"), click("Save")])

    _, query, event, _ = click("Plans")
    named: Move = (ClickInput(), query.model_copy(update={"control_type": "Edit"}), event, {})
    wanted = written_instance().model_copy(update={"parameters": {"title": "Contacts"}, "instance_id": "x"})
    assert performed_with([written("Plans", named), written("Rules")], wanted) is None
    assert performed_with([written("Plans", click("Open")), written("Rules")], wanted) is None


@pytest.mark.parametrize(("kind", "told"), [("ListItem", True), ("Canvas", False)])
def test_where_in_a_control_was_clicked_is_no_difference_unless_it_is_a_picture(
    kind: str, told: bool
) -> None:
    def opened(title: str, position: tuple[float, float]) -> Trajectory:
        made = recording("wiki.open", {"title": title}, [click(title)])
        (step,) = made.steps
        assert step.target is not None
        target = step.target.model_copy(update={"control_type": kind})
        action = step.action.model_copy(update={"position": position})
        return made.model_copy(
            update={"steps": (step.model_copy(update={"target": target, "action": action}),)}
        )

    pair = (opened("Plans", (0.2, 0.5)), opened("Rules", (0.3, 0.4)))
    wanted = written_instance().model_copy(update={"parameters": {"title": "Contacts"}, "instance_id": "x"})
    assert (performed_with(pair, wanted) is not None) == told


def test_what_was_recorded_itself_does_not_tell_how_other_values_are_used() -> None:
    first, second = note_written(), note_written("Documents/list.txt", "Sow beans")
    one = _verified(_subtask("tiddlywiki", "create_note"), []).model_copy(update={"trajectories": (first,)})
    recorded = written_instance().model_copy(update={"instance_id": first.instance_id})
    assert one.performance(recorded) == first and not one.tells_how(recorded)
    assert one.model_copy(update={"trajectories": (first, second)}).tells_how(recorded)


def test_waiting_is_no_difference() -> None:
    first, second = note_written(), note_written("Documents/list.txt", "Sow beans")
    step = second.steps[0].model_copy(update={"action": WaitInput(seconds=1), "target": None})
    waited = second.model_copy(update={"steps": (step, *second.steps)})
    assert performed_with([first, waited], written_instance("a.txt", "Mow")) is not None


def test_one_instance_is_verified_in_the_first_world_and_one_in_the_next() -> None:
    instances = instances_to_verify(_subtask("trac", "comment_on_ticket"), APPLICATIONS, CATEGORIES, 2)
    assert [item.world for item in instances] == ["", "bakery-1"]
    there = applications_in(APPLICATIONS, "bakery-1")["trac"]
    assert set(instances[1].inputs) <= set(fixtures_of(there, CATEGORIES))
    alone = instances_to_verify(_subtask("trac", "comment_on_ticket"), load_applications(), CATEGORIES, 2)
    assert [item.world for item in alone] == ["", ""]


def _verified(subtask: Subtask, instances: list[BoundSubtask]) -> VerifiedSubtask:
    recordings = tuple(
        recording(
            subtask.subtask_id, item.parameters, [typing("Title", item.parameters["note_title"])]
        ).model_copy(update={"instance_id": item.instance_id, "world": item.world})
        for item in instances
    )
    function = EvaluationFunction(function_id="f", subtask_id=subtask.subtask_id, source="")
    return VerifiedSubtask(
        subtask=subtask.model_copy(
            update={"available_parameters": tuple(item.parameters for item in instances)}
        ),
        function=function,
        trajectories=recordings,
    )


def test_a_subtask_verified_in_two_worlds_has_instances_in_all() -> None:
    subtask = _subtask("tiddlywiki", "create_note")
    verified = _verified(subtask, instances_to_verify(subtask, APPLICATIONS, CATEGORIES, 2))
    found = instances_in_worlds(verified, APPLICATIONS, CATEGORIES)
    assert {item.world for item in found} == set(worlds_of(APPLICATIONS))
    assert len({item.instance_id for item in found}) == len(found) >= 12
    for instance in found:
        performed = verified.performance(instance)
        assert performed is not None and performed.instance_id == instance.instance_id


def test_a_subtask_verified_in_one_world_stays_there() -> None:
    subtask = _subtask("tiddlywiki", "create_note")
    instances = [subtask.bind(values, CATEGORIES) for values in subtask.available_parameters[:2]]
    found = instances_in_worlds(_verified(subtask, instances), APPLICATIONS, CATEGORIES)
    assert list(found) == instances


def test_a_task_lives_in_one_world() -> None:
    pool = [
        subtask.bind(values, CATEGORIES, world)
        for world in worlds_of(APPLICATIONS)
        for application, entry in applications_in(APPLICATIONS, world).items()
        if application in ("tiddlywiki", "jupyterlab", "copyparty")
        for example in entry.example_subtasks
        for subtask in [Subtask.of(example.template, entry, origin="curated")]
        for values in example.parameter_sets
    ]
    fixtures = {
        fixture_key(name, world): frozenset(fixtures_of(entry, CATEGORIES))
        for world in worlds_of(APPLICATIONS)
        for name, entry in applications_in(APPLICATIONS, world).items()
    }
    tasks = list(compose(pool, [], CompositionRequest(count=60), fixtures=fixtures))
    assert len(tasks) >= 50
    for task in tasks:
        assert {node.world for node in task.graph.nodes} == {task.world}
    assert len({task.world for task in tasks}) == 3


def written_in(world: str, path: str, text: str) -> Trajectory:
    return note_written(path, text).model_copy(update={"world": world})


async def test_a_function_must_hold_in_both_worlds(shared_sandbox: EvaluationSandbox) -> None:
    """A function that knows the first world's words by heart is told so, and the next one must do without."""
    here = written_in("", "Documents/todo.txt", "Buy milk")
    there = written_in("bakery-1", "Documents/mill_order.txt", "Order rye")
    head = "def evaluate_agent_task_completion(text_path: str, text: str) -> EvalResult:\n"
    end = "    return EvalResult(done, 'looked at the file', 1.0 if done else 0.0)\n"
    by_heart = head + "    done = check_file_text('Documents/todo.txt', 'Buy milk\\n')\n" + end
    general = head + "    done = check_file_text(text_path, text + '\\n')\n" + end
    replies = [EvaluationWriterReply(source=source) for source in (by_heart, general)]
    models = TestModels({}, scripted={ModelRole.EVALUATION_WRITER: replies})
    world = World(
        models,
        shared_sandbox,
        {"notes": simulated_world.APPLICATIONS["simulated_notes"]},
        verification=VerificationSettings(
            functions_per_round=2, thresholds=Thresholds(least_other_subtasks=0)
        ),
    )
    await world.pool.complete()
    subtask = Subtask(
        subtask_id="notes.write",
        application="notes",
        application_category="Note Management",
        instruction_template="Write '{text}' into '{text_path}'.",
        available_parameters=(here.parameters, there.parameters),
        outputs=(ResourceDeclaration(category="text_path", parameter="text_path"),),
    )
    work = Work(subtask, Performances(world.verifier.stage))
    await world.verifier.write_function(work, 1, [here, there])
    await world.environments.close()
    judged = [(item.function_id == work.functions[0].function_id, item.accepted) for item in work.rounds]
    assert [accepted for first, accepted in judged if first] == [False, False]
    assert "does not accept a right performance" in work.rounds[0].reason
    asked = models.calls[ModelRole.EVALUATION_WRITER][1].question
    assert any("does not accept a right performance" in item for item in asked.feedback)
    passed = [item.evaluation for item in work.rounds if item.function_id == work.functions[1].function_id]
    assert [item is not None and item.passed for item in passed] == [True, True]


def test_one_parameter_set_is_one_world_and_goes_nowhere_else() -> None:
    subtask = _subtask("tiddlywiki", "create_note")
    alone = instances_to_verify(subtask, APPLICATIONS, CATEGORIES, 1)
    assert [item.world for item in alone] == [""]
    assert list(instances_in_worlds(_verified(subtask, alone), APPLICATIONS, CATEGORIES)) == alone


async def test_a_set_that_gives_way_in_the_second_world_does_so_to_one_of_that_world(
    shared_sandbox: EvaluationSandbox,
) -> None:
    world = World(TestModels(APPLICATIONS), shared_sandbox, dict(APPLICATIONS))
    subtask = _subtask("sqlite_web", "export_table_as_csv")
    refused: list[BoundSubtask] = []

    class Unprovided:
        async def setup_trajectory(self, instance: BoundSubtask, variant: int) -> object:
            if variant == 1 and not refused:
                refused.append(instance)
                return None
            return object()

    verifier = world.verifier
    verifier.stage = replace(verifier.stage, pool=Unprovided(), applications=APPLICATIONS)  # type: ignore[arg-type]
    instances, setups = await verifier._prepare(subtask)
    assert [item.world for item in (*refused, *instances)] == ["bakery-1", "", "bakery-1"]
    assert setups.keys() == {item.instance_id for item in instances}
