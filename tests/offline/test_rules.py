import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.offline.actor import act, position_in, thought_of, whole_thought
from taskloom.offline.conditions.conditions import generalise
from taskloom.offline.evaluation_writer import write_function
from taskloom.prompts.inputs import (
    ActorInput,
    EvaluationWriterInput,
    Performance,
    StepInHistory,
)
from taskloom.prompts.replies import ActorReply
from taskloom.prompts.shown_effects import Origin, ShownEffects, TouchedRecord
from taskloom.resources.applications import Application, ControlQuery, ExampleSubtask, WorkedStep
from taskloom.resources.reading.catalog import load_applications
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.interaction import Control, Rectangle, Screenshot
from taskloom.taskgraph.records.subtask import with_path_parts

PARAMETERS = {"text": "Milk (2)", "text_path": "Documents/a.txt"}
NOTES = Application(
    name="notes",
    title="Notes",
    category="Note Management",
    version="1",
    licence="MIT",
    description="Notes.",
    manual="",
    example_subtasks=(
        ExampleSubtask(
            name="write",
            instruction_template="Write '{text}' into '{text_path}'.",
            parameter_sets=(
                {"text": "Milk (2)", "text_path": "Documents/a.txt"},
                {"text": "Tea", "text_path": "Documents/b.txt"},
            ),
            worked_example=(
                WorkedStep(operation="click_input", control=ControlQuery(text="Later"), optional=True),
                WorkedStep(operation="click_input", control=ControlQuery(text="New", control_type="Button")),
                WorkedStep(operation="keyboard_input", keys="{text}^s{text_path_name}{ENTER}"),
            ),
        ),
    ),
)
NEW, CLOSE, LATER = (
    Control(
        label=str(number),
        text=text,
        control_type="Button",
        rectangle=Rectangle(left=0, top=0, right=9, bottom=9),
    )
    for number, text in enumerate(("New", "Close", "Later"))
)


def screen(
    *controls: Control,
    instruction: str = "Write 'Milk (2)' into 'Documents/a.txt'.",
    history: tuple[StepInHistory, ...] = (),
) -> ActorInput:
    return ActorInput(
        application="notes",
        title="Notes",
        manual="",
        instruction=instruction,
        controls=controls,
        history=history,
        steps_left=9,
        screenshot=Screenshot.of(b"screen"),
    )


def in_history(thought: str, outcome: str = "done") -> StepInHistory:
    return StepInHistory(step=1, thought=thought, function="click_input", outcome=outcome)


def done(step: int, outcome: str = "done") -> StepInHistory:
    return in_history(thought_of(NOTES.example_subtasks[0].worked_example[step - 1], PARAMETERS), outcome)


class TestActor:
    def test_passes_over_an_optional_step_and_grounds_the_next(self) -> None:
        reply = act(screen(CLOSE, NEW), NOTES)
        assert (reply.function, reply.control_label, reply.control_text) == ("click_input", "0", "New")
        assert reply.thought == "'New' is next. I click the button 'New'."
        assert reply.observation == "The application is in front; the button 'New' is there."

    def test_does_an_optional_step_when_its_control_is_there(self) -> None:
        reply = act(screen(NEW, LATER), NOTES)
        assert reply.control_text == "Later"

    def test_escapes_values_in_keys_and_knows_the_parts_of_paths(self) -> None:
        reply = act(screen(NEW, history=(done(2),)), NOTES)
        assert reply.args.keys == "Milk {(}2{)}^sa.txt{ENTER}"

    def test_goes_another_way_when_asked_where_one_is_known(self) -> None:
        other = (WorkedStep(operation="keyboard_input", keys="^n"),)
        example = NOTES.example_subtasks[0].model_copy(update={"second_example": other})
        notes = NOTES.model_copy(update={"example_subtasks": (example,)})
        asked = screen(CLOSE, NEW).model_copy(update={"another_way": True})

        assert act(asked, notes).args.keys == "^n"
        assert act(screen(CLOSE, NEW), notes).control_text == "New"
        assert act(asked, NOTES).control_text == "New"

    def test_recognises_values_that_no_parameter_set_has(self) -> None:
        view = screen(NEW, instruction="Write 'Jam' into 'Documents/c.txt'.", history=(done(2),))
        assert act(view, NOTES).args.keys == "Jam^sc.txt{ENTER}"

    def test_finishes_after_the_last_step(self) -> None:
        assert act(screen(NEW, history=(done(2), done(3))), NOTES).status == "FINISH"

    def test_waits_for_a_control_and_gives_up_in_the_end(self) -> None:
        history: tuple[StepInHistory, ...] = ()
        for _ in range(3):
            reply = act(screen(CLOSE, history=history), NOTES)
            assert reply.function == "wait"
            history = (*history, in_history(reply.thought))
        reply = act(screen(CLOSE, history=history), NOTES)
        assert (reply.status, reply.message) == ("GIVE_UP", "there is no Button 'New' on the screen")

    def test_does_a_refused_step_again(self) -> None:
        reply = act(screen(NEW, history=(done(2, "the control is covered"),)), NOTES)
        assert reply.control_text == "New"

    def test_gives_up_on_what_no_worked_example_fits(self) -> None:
        assert act(screen(NEW, instruction="Fly to the moon."), NOTES).status == "GIVE_UP"
        assert act(screen(NEW), None).status == "GIVE_UP"


def performance(text: str, path: str, *, made: str = "", shown: str = "") -> Performance:
    """A note that was written into a file; what it holds, and what the screen then shows."""
    held = made or f"* {text}"
    file = Effect(area="file", container=path, format="lines", kind="added", after=held)
    line = file.model_copy(update={"address": ("0",)})
    return Performance(
        instruction="",
        parameters={"text": text, "text_path": path},
        effects=ShownEffects(essential=(file, line), appeared=(shown or f"Saved {path}",)),
    )


def written(*performances: Performance, **changes: object) -> str:
    view = EvaluationWriterInput(
        checks_reference="",
        operating_system="linux",
        application="notes",
        title="Notes",
        instruction_template="Write '{text}' into '{text_path}'.",
        parameter_names=("text", "text_path"),
        performances=performances,
        **changes,
    )
    return write_function(view).source


MILK, TEA = performance("Milk", "Documents/a.txt"), performance("Tea", "Documents/b.txt")


class TestEvaluationWriter:
    def test_checks_the_state_over_all_parameters(self) -> None:
        source = written(MILK, TEA)
        assert "check_file_text(file_path=text_path, text='* ' + text)" in source
        assert "check_file_changed(file_path=text_path)" in source
        assert source.count("check_") == 2, "whether anything else was harmed is no matter of a function"
        assert "Milk" not in source
        ast.parse(source)

    def test_never_describes_the_route_and_shows_the_screen_only_where_it_is_the_result(self) -> None:
        assert "check_text_exists_via_control" not in written(MILK, TEA)
        shown = written(MILK, TEA, result_on_screen=True)
        assert "check_text_exists_via_control(text='Saved ' + text_path)" in shown
        assert "check_mouse_clicks" not in shown
        assert "check_keyboard_types" not in shown

    def test_leaves_out_what_only_one_performance_shows(self) -> None:
        source = written(MILK, performance("Tea", "Documents/b.txt", made="made at 10:31: Tea"))
        assert "check_file_text" not in source
        assert "check_file_changed(file_path=text_path)" in source

    def test_asks_of_an_empty_file_only_that_it_is_new(self) -> None:
        empty = [
            item.model_copy(
                update={
                    "effects": ShownEffects(
                        essential=(item.effects.essential[0].model_copy(update={"after": ""}),)
                    )
                }
            )
            for item in (MILK, TEA)
        ]
        assert "check_file_changed(file_path=text_path)" in written(*empty)
        assert "check_file_text" not in written(*empty)

    def test_drops_conditions_that_nothing_needs_by_the_number_of_their_call(self) -> None:
        first = written(MILK, TEA)
        calls = [line for line in first.splitlines() if line.startswith("        (")]
        number = next(index for index, line in enumerate(calls) if "check_file_changed" in line)
        untested = (f"check_file_changed('{{text_path}}') [call {number}]",)
        second = written(MILK, TEA, previous_source=first, untested_checks=untested)
        assert "check_file_changed" not in second
        assert second.count("check_") == first.count("check_") - 1

    def test_drops_what_right_work_does_not_meet_before_what_nothing_needs(self) -> None:
        first = written(MILK, TEA)
        second = written(
            MILK,
            TEA,
            previous_source=first,
            untested_checks=("check_file_contains('a', 'b') [call 1]",),
            refusing_checks=("check_file_text('a', 'b') [call 0]",),
        )
        assert "check_file_text" not in second
        assert "check_file_changed" in second

    def test_a_record_holds_all_values_together(self) -> None:
        def row(region: str, amount: str, number: str) -> Performance:
            fields = {"id": number, "region": region, "amount": amount}
            record = TouchedRecord(file_path="shop.db", within="sales", kind="added", fields=fields)
            return Performance(
                instruction="",
                parameters={"region": region, "amount": amount},
                effects=ShownEffects(records=(record,)),
            )

        source = written(row("North", "10", "4"), row("South", "20", "5"))
        assert (
            "check_record_added(file_path='shop.db', fields={'amount': amount, 'region': region},"
            " within='sales')" in source
        )
        assert "'id'" not in source

    def test_what_was_copied_is_asked_of_its_origin(self) -> None:
        def pasted(path: str) -> Performance:
            origin = Origin(kind="part", source="clipboard", target=path)
            return Performance(
                instruction="", parameters={"text_path": path}, effects=ShownEffects(origins=(origin,))
            )

        source = written(pasted("Documents/a.txt"), pasted("Documents/b.txt"))
        assert "check_copied(source='clipboard', target=text_path, whole=False)" in source

    def test_a_picture_and_a_file_in_the_clipboard_are_asked_for(self) -> None:
        def copied(slot: str, value: str) -> Performance:
            effect = Effect(
                area="clipboard", kind="added", container="clipboard", address=(slot,), after=value
            )
            return Performance(instruction="", parameters={}, effects=ShownEffects(essential=(effect,)))

        assert "clipboard_contains_image()" in written(copied("image", "a" * 64))
        assert "clipboard_contains_file(file_name='a.txt')" in written(copied("file", "a.txt"))

    def test_says_that_it_saw_nothing_rather_than_accept_everything(self) -> None:
        assert "changed nothing visible" in written()


@given(
    st.dictionaries(
        st.sampled_from(["a", "b"]), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)
    ),
    st.text(max_size=40),
)
def test_a_generalised_text_is_the_text_for_its_own_parameters(parameters: dict[str, str], text: str) -> None:
    expression = generalise(text, parameters)
    assert eval(expression.source(), dict(parameters)) == text


class TestThoughts:
    def test_a_thought_says_what_the_step_leads_to_and_what_is_done(self) -> None:
        menu = WorkedStep(
            operation="click_input", control=ControlQuery(text="File"), thought="The menu can export."
        )
        entry = WorkedStep(
            operation="click_input", control=ControlQuery(text="Export", control_type="MenuItem")
        )
        controls = (control_in_view("File", "MenuItem"),)
        thought = whole_thought((menu, entry), 0, {}, controls[0], controls)
        assert (
            thought
            == "The menu can export. I click the menu entry 'File'; this should bring up the menu entry"
            " 'Export', which is not on the screen yet."
        )
        shown = (*controls, control_in_view("Export", "MenuItem"))
        assert "bring up" not in whole_thought((menu, entry), 0, {}, shown[0], shown)
        assert (
            whole_thought((menu, entry), 1, {}, shown[1], shown)
            == "'Export' is next. I click the menu entry 'Export'; with this the work is done."
        )

    def test_typing_names_the_text_and_the_field_that_has_the_focus(self) -> None:
        typing = WorkedStep(operation="keyboard_input", keys="^a{text}{ENTER}")
        name = control_in_view("File name", "Edit").model_copy(update={"focused": True})
        assert whole_thought((typing,), 0, PARAMETERS, None, (name,)).endswith(
            "The field 'File name' has the focus. I press Ctrl+A, type “Milk (2)”, press Enter in the field"
            " 'File name'; with this the work is done."
        )

    @pytest.mark.parametrize("application", load_applications().values(), ids=lambda item: item.name)
    def test_no_thought_of_a_curated_subtask_is_a_placeholder(self, application: Application) -> None:
        for example in application.example_subtasks:
            parameters = with_path_parts(example.parameter_sets[0])
            for steps in (example.worked_example, example.second_example):
                for index, step in enumerate(steps):
                    said = whole_thought(steps, index, parameters, None, ())
                    ActorReply(status="CONTINUE", thought=said, function=step.operation)
                    assert len(said.split()) >= 5, said
                    assert not any(f"{{{name}}}" in said for name in parameters), said
                for index in range(min(1, len(steps))):
                    thought = whole_thought(steps, index, parameters, None, ())
                    told = [StepInHistory(step=1, thought=thought, function="wait")]
                    assert position_in(told, steps, parameters)[0] == 1


def control_in_view(text: str, control_type: str) -> Control:
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    return Control(label=text, text=text, control_type=control_type, rectangle=place)
