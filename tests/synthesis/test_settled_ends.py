from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.prompts.replies import ActorReply
from taskloom.synthesis.trajectories.settled_ends import ask_to_settle, left_open, unsettled
from taskloom.taskgraph.records.interaction import Control
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.synthesis.models import TestModels
from tests.synthesis.recordings import PLACE, click, recording
from tests.synthesis.simulated_world import APPLICATIONS, World

NOTES = {"simulated_notes": APPLICATIONS["simulated_notes"]}
WRITE = "simulated_notes.write_note"


def inside(text: str, parent_type: str, parent_text: str = "") -> Control:
    return Control(
        label=text,
        text=text,
        control_type="Button",
        parent_type=parent_type,
        parent_text=parent_text,
        rectangle=PLACE,
    )


QUESTION = (
    inside("Save", "Dialog", "Save changes before closing?"),
    inside("Discard", "Dialog", "Save changes before closing?"),
)


def test_a_dialog_that_was_not_there_at_the_start_is_left_open() -> None:
    found = left_open((), QUESTION)
    assert found == ("the dialog 'Save changes before closing?' ('Save', 'Discard')",)
    assert "answer it" in ask_to_settle(found)


def test_an_open_menu_without_a_name_is_left_open() -> None:
    assert left_open((), [inside("Rename", "Menu")]) == ("a menu ('Rename')",)


def test_a_menu_that_got_its_answer_waits_for_none() -> None:
    assert left_open((), [inside("Rename", "Menu")], clicked="Rename") == ()
    assert left_open((), [inside("Rename", "Dialog")], clicked="Rename") != ()


def test_what_was_open_at_the_start_may_stay_open() -> None:
    assert left_open(QUESTION, QUESTION) == ()


def test_menu_bars_and_forms_wait_for_nothing() -> None:
    assert left_open((), [inside("File", "MenuBar"), inside("Name", "Form")]) == ()


def test_an_instruction_may_ask_for_a_dialog() -> None:
    box = [inside("Cancel", "Dialog", "Insert table")]
    assert left_open((), box, "Show the Insert Table box.") == ()
    assert left_open((), box, "Open the dialog for new tables.") == ()
    assert left_open((), box, "Insert a row.") != ()


def test_a_recording_is_unsettled_by_its_last_screen() -> None:
    still_open = recording("notes.close", {}, [click("Close", controls=QUESTION)])
    answered = recording("notes.close", {}, [click("Close", controls=QUESTION), click("Save", controls=())])
    assert unsettled(still_open)
    assert unsettled(answered) == ()


async def test_giving_up_twice_with_a_reason_asks_the_explorer_and_ends(
    shared_sandbox: EvaluationSandbox,
) -> None:
    reason = "there is no button that writes"
    models = TestModels(
        NOTES, scripted={ModelRole.ACTOR: [ActorReply(status="GIVE_UP", message=reason)] * 12}
    )
    done = (await World(models, shared_sandbox, NOTES).verify(WRITE))[WRITE]
    assert done.rejection is not None
    assert done.rejection.reason == "not_reproducible"
    assert reason in done.rejection.message
    assert len(done.trajectories) == 2
    asked = [call.question for call in models.calls[ModelRole.EXPLORER]]
    assert any(reason in str(inputs.feedback) for inputs in asked)
