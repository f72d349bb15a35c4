import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.actor import act
from offline.dependency_judge import infer
from offline.evaluation_writer import write_function
from offline.expressions import generalise
from offline.mistakes import InjectedMistake, MistakeSource, mark, read_mark
from offline.summarizer import summarize
from prompts.inputs import (
    ActorInput,
    ControlInView,
    DependencyJudgeInput,
    EvaluationWriterInput,
    NumberedSubtask,
    Performance,
    ResourceLink,
    StepInHistory,
    SummarizerInput,
)
from prompts.shown_effects import ChangedFile, Origin, ShownEffects, TouchedRecord
from resources.applications import Application, ControlQuery, ExampleSubtask, WorkedStep
from taskgraph.records.effect import Effect
from taskgraph.records.interaction import Screenshot

NO_MISTAKES = MistakeSource(0.0)
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
    ControlInView(label=str(number), control_text=text, control_type="Button")
    for number, text in enumerate(("New", "Close", "Later"))
)


def screen(
    *controls: ControlInView,
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
    return in_history(f"Step {step} of 3: x", outcome)


class TestActor:
    def test_passes_over_an_optional_step_and_grounds_the_next(self) -> None:
        reply, _ = act(screen(CLOSE, NEW), NOTES, 0, NO_MISTAKES)
        assert (reply.function, reply.control_label, reply.control_text) == ("click_input", "0", "New")
        assert reply.thought.startswith("Step 2 of 3")

    def test_does_an_optional_step_when_its_control_is_there(self) -> None:
        reply, _ = act(screen(NEW, LATER), NOTES, 0, NO_MISTAKES)
        assert reply.control_text == "Later"

    def test_escapes_values_in_keys_and_knows_the_parts_of_paths(self) -> None:
        reply, _ = act(screen(NEW, history=(done(2),)), NOTES, 0, NO_MISTAKES)
        assert reply.args.keys == "Milk {(}2{)}^sa.txt{ENTER}"

    def test_recognises_values_that_no_parameter_set_has(self) -> None:
        view = screen(NEW, instruction="Write 'Jam' into 'Documents/c.txt'.", history=(done(2),))
        assert act(view, NOTES, 0, NO_MISTAKES)[0].args.keys == "Jam^sc.txt{ENTER}"

    def test_finishes_after_the_last_step(self) -> None:
        assert act(screen(NEW, history=(done(2), done(3))), NOTES, 0, NO_MISTAKES)[0].status == "FINISH"

    def test_waits_for_a_control_and_gives_up_in_the_end(self) -> None:
        history: tuple[StepInHistory, ...] = ()
        for _ in range(3):
            reply, _ = act(screen(CLOSE, history=history), NOTES, 0, NO_MISTAKES)
            assert reply.function == "wait"
            history = (*history, in_history(reply.thought))
        reply, _ = act(screen(CLOSE, history=history), NOTES, 0, NO_MISTAKES)
        assert (reply.status, reply.message) == ("GIVE_UP", "there is no Button 'New' on the screen")

    def test_does_a_refused_step_again(self) -> None:
        reply, _ = act(screen(NEW, history=(done(2, "the control is covered"),)), NOTES, 0, NO_MISTAKES)
        assert reply.thought.startswith("Step 2 of 3")

    def test_gives_up_on_what_no_worked_example_fits(self) -> None:
        assert act(screen(NEW, instruction="Fly to the moon."), NOTES, 0, NO_MISTAKES)[0].status == "GIVE_UP"
        assert act(screen(NEW), None, 0, NO_MISTAKES)[0].status == "GIVE_UP"

    def test_a_mistake_is_marked_where_it_is_made_and_a_new_attempt_may_be_right(self) -> None:
        kinds = set()
        for attempt in range(60):
            history = (done(1),) if attempt % 2 else ()
            reply, made = act(screen(CLOSE, NEW, history=history), NOTES, attempt, MistakeSource(0.5, 1))
            kinds |= {item.kind for item in made}
            if not made:
                assert reply.control_text == "New"
        assert "claims_success" in kinds
        assert "wrong_control" in kinds


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


def written(
    *performances: Performance, attempt: int = 0, mistakes: MistakeSource = NO_MISTAKES, **changes: object
) -> str:
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
    return write_function(view, attempt, mistakes)[0].source


MILK, TEA = performance("Milk", "Documents/a.txt"), performance("Tea", "Documents/b.txt")


class TestEvaluationWriter:
    def test_checks_the_state_over_all_parameters(self) -> None:
        source = written(MILK, TEA)
        assert "check_file_text(file_path=text_path, text='* ' + text)" in source
        assert "check_other_files_unchanged(file_paths=[text_path])" in source
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
        assert "check_file_exists(file_path=text_path)" in source

    def test_drops_conditions_that_nothing_needs_by_the_number_of_their_call(self) -> None:
        first = written(MILK, TEA)
        calls = [line for line in first.splitlines() if line.startswith("        (")]
        number = next(index for index, line in enumerate(calls) if "check_file_exists" in line)
        untested = (f"check_file_exists('{{text_path}}') [call {number}]",)
        second = written(MILK, TEA, previous_source=first, untested_checks=untested)
        assert "check_file_exists" not in second
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
        assert "check_file_exists" in second

    def test_a_record_holds_all_values_together(self) -> None:
        def row(region: str, amount: str, number: str) -> Performance:
            fields = {"id": number, "region": region, "amount": amount}
            record = TouchedRecord(file_path="shop.db", within="sales", kind="added", fields=fields)
            return Performance(
                instruction="",
                parameters={"region": region, "amount": amount},
                effects=ShownEffects(
                    records=(record,),
                    counts=(ChangedFile(file_path="shop.db", added=1, removed=0, changed=0),),
                ),
            )

        source = written(row("North", "10", "4"), row("South", "20", "5"))
        assert (
            "check_record(file_path='shop.db', fields={'amount': amount, 'region': region}, within='sales')"
            in source
        )
        assert "check_other_records_unchanged(file_path='shop.db', added=1, removed=0, changed=0)" in source
        assert "'id'" not in source

    def test_what_was_copied_is_asked_of_its_origin(self) -> None:
        def pasted(path: str) -> Performance:
            origin = Origin(kind="part", source="clipboard", target=path)
            return Performance(
                instruction="", parameters={"text_path": path}, effects=ShownEffects(origins=(origin,))
            )

        source = written(pasted("Documents/a.txt"), pasted("Documents/b.txt"))
        assert "check_copied(source='clipboard', target=text_path, whole=False)" in source

    def test_says_that_it_saw_nothing_rather_than_accept_everything(self) -> None:
        assert "changed nothing visible" in written()

    def test_mistakes_are_too_weak_or_hold_one_parameter_set_only(self) -> None:
        right = written(MILK, TEA)
        spoiled = {written(MILK, TEA, attempt=attempt, mistakes=MistakeSource(1.0)) for attempt in range(12)}
        assert right not in spoiled
        assert any("Documents/a.txt" in source or "Documents/b.txt" in source for source in spoiled)
        assert any("'* ' + text" not in source and "Documents" not in source for source in spoiled)


@given(
    st.dictionaries(
        st.sampled_from(["a", "b"]), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)
    ),
    st.text(max_size=40),
)
def test_a_generalised_text_is_the_text_for_its_own_parameters(parameters: dict[str, str], text: str) -> None:
    expression = generalise(text, parameters)
    assert expression.value(parameters) == text
    assert eval(expression.source(), dict(parameters)) == text


SUBTASKS = (
    NumberedSubtask(
        number=1, application="Editor", instruction="In Editor, create 'Documents/v1.2 notes.txt'."
    ),
    NumberedSubtask(number=2, application="Wiki", instruction="Copy the text of the page 'Home'."),
    NumberedSubtask(
        number=3, application="Mail", instruction="Send 'Documents/v1.2 notes.txt' to ann@example.org."
    ),
    NumberedSubtask(
        number=4, application="Editor", instruction="Paste the clipboard into 'Documents/b.txt'."
    ),
)
LINKS = (
    ResourceLink(producer=1, consumer=3, category="text_path", kind="file", value="Documents/v1.2 notes.txt"),
    ResourceLink(producer=2, consumer=4, category="text_in_clipboard", kind="clipboard"),
    ResourceLink(producer=3, consumer=4, category="open_tab", kind="tab"),
)
VIEW = SummarizerInput(goal="Tell Ann about it", subtasks=SUBTASKS, links=LINKS)


def pairs(text: str, subtasks: tuple[NumberedSubtask, ...] = SUBTASKS[::-1]) -> set[tuple[int, int]]:
    reply = infer(DependencyJudgeInput(instruction=text, subtasks=subtasks))
    return {(item.before, item.after) for item in reply.dependencies}


VALUES = ("Documents/a.txt", "Documents/b v1.2.txt", "x, y and z", "the list", "Anna, in Rome")
KINDS = (("text_path", "file"), ("note_title", "record"), ("text_in_clipboard", "clipboard"))


@st.composite
def instruction_views(draw: st.DrawFn) -> SummarizerInput:
    """Graphs of up to six subtasks; every resource has one producer, and instructions name some values."""
    count = draw(st.integers(1, 6))
    subtasks = [
        NumberedSubtask(
            number=number,
            application=draw(st.sampled_from(["Editor", "Wiki"])),
            instruction=f"Do job {number}"
            + "".join(f" with '{value}'" for value in draw(st.sets(st.sampled_from(VALUES)))),
        )
        for number in range(1, count + 1)
    ]
    links: list[ResourceLink] = []
    for producer in range(1, count):
        (category, kind), value = draw(st.sampled_from(KINDS)), draw(st.sampled_from(VALUES))
        if any(link.category == category and (kind == "clipboard" or link.value == value) for link in links):
            continue
        consumers = draw(st.sets(st.integers(producer + 1, count), max_size=2))
        links += [
            ResourceLink(producer=producer, consumer=consumer, category=category, kind=kind, value=value)
            for consumer in sorted(consumers)
        ]
    return SummarizerInput(goal="", subtasks=tuple(subtasks), links=tuple(links))


class TestSummarizerAndJudge:
    @given(instruction_views())
    def test_every_graph_that_is_written_is_read_back(self, view: SummarizerInput) -> None:
        text = summarize(view, 0, NO_MISTAKES)[0].instruction
        expected = {(link.producer, link.consumer) for link in view.links}
        assert pairs(text, view.subtasks) == expected, text

    def test_a_result_is_named_once_where_the_instructions_name_it(self) -> None:
        text = summarize(VIEW, 0, NO_MISTAKES)[0].instruction
        assert text.count("Documents/v1.2 notes.txt") == 3
        assert "gives you the file" not in text

    def test_what_is_written_is_read_back(self) -> None:
        text = summarize(VIEW, 0, NO_MISTAKES)[0].instruction
        assert pairs(text) == {(1, 3), (2, 4), (3, 4)}
        assert text.startswith("Tell Ann about it.")
        assert "In Editor, in Editor" not in text

    def test_each_mistake_is_read_as_it_is_written(self) -> None:
        kinds = set()
        for attempt in range(40):
            reply, made = summarize(VIEW, attempt, MistakeSource(0.6, 2))
            assert (pairs(reply.instruction) == {(1, 3), (2, 4), (3, 4)}) == (not made)
            kinds |= {item.kind for item in made}
        assert kinds == {"dependency_lost", "dependency_reversed"}

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                "Create the file 'a.txt' with a list. After that, mail 'a.txt' to Bob. Independently, start the music.",
                {(1, 2)},
            ),
            ("Create the file 'a.txt' with a list. Mail 'a.txt' to Bob. Start the music.", {(1, 2)}),
            ("Create the file 'a.txt' with a list. Mail 'c.txt' to Bob. Start the music.", set()),
            (
                "Start the music. Independently, create the file 'a.txt' with a list; then mail 'a.txt' to Bob.",
                None,
            ),
        ],
        ids=["connective", "shared name", "no shared name", "two in one sentence"],
    )
    def test_texts_of_others_are_read_by_connectives_and_names(
        self, text: str, expected: set[tuple[int, int]] | None
    ) -> None:
        subtasks = (
            NumberedSubtask(
                number=1, application="Editor", instruction="Create the file 'a.txt' with a list."
            ),
            NumberedSubtask(number=2, application="Mail", instruction="Mail 'a.txt' to Bob."),
            NumberedSubtask(number=3, application="Player", instruction="Start the music."),
        )
        if expected is None:
            assert (2, 1) not in pairs(text, subtasks)
        else:
            assert pairs(text, subtasks) == expected


@given(st.integers(0, 2**32), st.floats(0, 1), st.text(max_size=10))
def test_draws_depend_on_seed_and_key_alone(seed: int, rate: float, key: str) -> None:
    source = MistakeSource(rate, seed)
    first, second = (source.draw(("stops_early", "wrong_control"), key, 1) for _ in range(2))
    assert (first and first[0]) == (second and second[0])


def test_the_share_of_mistakes_is_the_rate() -> None:
    made = sum(MistakeSource(0.3, 9).draw(("stops_early",), number) is not None for number in range(2000))
    assert 520 < made < 680


def test_marks_are_read_back() -> None:
    mistakes = (InjectedMistake("wrong_control", "step 2"), InjectedMistake("stops_early"))
    assert read_mark(mark(mistakes)) == mistakes
    assert read_mark("") == read_mark("req_abc") == read_mark("mistake:unheard_of") == ()
