"""What writers of functions are shown, and two of them that must agree."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.evaluators_api.checks.declaration import checks
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.reference import checks_reference
from taskloom.prompts.replies import EvaluationWriterReply
from taskloom.prompts.shown_effects import TaskShape
from taskloom.resources.applications import ControlQuery
from taskloom.synthesis.cross_verification.function_writing import VerificationSettings, disagreements
from taskloom.synthesis.evaluation_functions.evaluation_functions import needed_checks, performances
from taskloom.synthesis.evaluation_functions.task_shapes import HIDDEN, without_ends
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.evidence import FileState, InputEvent
from taskloom.taskgraph.records.interaction import KeyboardInput
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.models import TestModels
from tests.synthesis.recordings import file, recording
from tests.synthesis.simulated_world import APPLICATIONS, World

NOTES = {"simulated_notes": APPLICATIONS["simulated_notes"]}
WRITE = "simulated_notes.write_note"
HEAD = "def evaluate_agent_task_completion(name: str, amount: str) -> EvalResult:\n"
TABLE = "name,amount,code\nAnn,120,north\nBob,95,south\n"


def added(name: str, amount: str, code: str, *beside: FileState) -> Trajectory:
    """A row is added in two steps: first without its code, then with it."""
    where, typed = ControlQuery(text="Row"), InputEvent(step=1, kind="text", text=name)
    half = file("Documents/sales.csv", f"{TABLE}{name},{amount},\n")
    whole = file("Documents/sales.csv", f"{TABLE}{name},{amount},{code}\n")
    moves = [
        (KeyboardInput(keys=text), where, typed, {"files": (state, *beside)})
        for text, state in (("a", half), ("b", whole))
    ]
    return recording(
        "notes.add_row",
        {"name": name, "amount": amount},
        moves,
        start={"files": (file("Documents/sales.csv", TABLE), *beside)},
        instruction=f"Add {name} with {amount} and the usual code.",
    )


PERFORMANCES = [added("Cid", "77", "zulu-west"), added("Dora", "41", "yankee-east")]
ALIKE = [added("Cid", "77", "zulu-west"), added("Dora", "41", "zulu-west")]


def task_shapes(trajectories: Sequence[Trajectory]) -> tuple[TaskShape, ...]:
    return tuple(item.shape for item in performances(trajectories))


def function(condition: str) -> EvaluationFunction:
    source = f"{HEAD}    done = {condition}\n    return EvalResult(done, 'looked at the file', 1.0)\n"
    return EvaluationFunction(function_id=condition, subtask_id="notes.add_row", source=source)


def test_the_shape_has_places_and_types_but_no_end_of_a_performance() -> None:
    shapes = task_shapes(PERFORMANCES)

    text = "".join(shape.model_dump_json() for shape in shapes)
    assert "zulu-west" not in text
    assert "yankee-east" not in text
    changes = {change.address: change for change in shapes[0].changes}
    places = {address[-1]: change for address, change in changes.items() if address}
    assert places["amount"].value_type == "number"
    assert places["code"].value_type == "text"
    assert set(places["code"].samples) == {"north", "south"}
    assert shapes[0].files[0].path == "Documents/sales.csv"
    assert {"name", "amount", "code"} <= set(shapes[0].files[0].fields)


def test_of_what_an_application_keeps_and_the_work_does_not_touch_little_is_shown() -> None:
    kept = [file(f".applications/tracker/pages/page{number}.html", "<p>x</p>") for number in range(30)]
    compiled = FileState(path=".applications/tracker/code.pyc", size=1, sha256="0" * 64)
    (shape,) = task_shapes([added("Cid", "77", "zulu-west", *kept, compiled, file("Documents/a.txt", "a"))])
    paths = [item.path for item in shape.files]
    assert paths[0] == "Documents/sales.csv" and "Documents/a.txt" in paths
    assert compiled.path not in paths and len(paths) == 10


def test_what_a_parameter_names_is_shown_though_the_work_does_not_touch_it() -> None:
    kept = [file(f".applications/tracker/.git/hooks/hook{number}", "x") for number in range(30)]
    page = file(".applications/tracker/pages/Cid.md", "x")
    (shape,) = task_shapes([added("Cid", "77", "zulu-west", *kept, page)])
    assert [item.path for item in shape.files][:2] == ["Documents/sales.csv", page.path]


def test_the_shape_has_values_that_every_performance_leaves_and_nobody_could_guess() -> None:
    changes = {change.address[-1]: change for change in task_shapes(ALIKE)[0].changes if change.address}
    assert changes["code"].always == "zulu-west"
    assert not changes["amount"].always, "the value of a parameter"
    assert not any(change.always for change in task_shapes(ALIKE[:1])[0].changes), "nothing to compare with"
    assert "zulu-west" in without_ends("the code is not 'zulu-west'", ALIKE)


def test_a_number_that_a_new_record_has_for_a_key_is_nothing_to_be_copied() -> None:
    """All performances begin alike, so their new records have equal keys; elsewhere it would be another."""
    tables = 'CREATE TABLE "issues"("id" PRIMARY KEY, "title", "status"); -- {0} rows\n'
    notes = 'CREATE TABLE "notes"("id" PRIMARY KEY, "issue", "kind"); -- {0} rows\n'
    start = file(".applications/t/t.db", tables.format(0) + notes.format(0))

    def opened(title: str) -> Trajectory:
        row = f"INSERT INTO \"issues\" VALUES(9, '{title}', 'chatting');\n"
        note = "INSERT INTO \"notes\" VALUES(31, 9, 'opening');\n"
        end = file(".applications/t/t.db", tables.format(1) + row + notes.format(1) + note)
        typed = InputEvent(step=1, kind="text", text=title)
        moves = [(KeyboardInput(keys="a"), ControlQuery(text="Title"), typed, {"files": (end,)})]
        return recording("t.open", {"title": title}, moves, start={"files": (start,)}, instruction=title)

    (shape, _) = task_shapes([opened("Lamp broken"), opened("Door stuck")])
    always = {change.address[-1]: change.always for change in shape.changes if change.address}
    assert (always["status"], always["kind"]) == ("chatting", "opening")
    assert (always["id"], always["issue"]) == ("", "")


def test_cases_that_read_alike_without_the_ends_are_told_once() -> None:
    told = "Although:\n  - 'zulu-west' was lost\n  - 'yankee-east' was lost\n  Check it."
    assert without_ends(told, PERFORMANCES) == f"Although:\n  - {HIDDEN} was lost\n  Check it."


def test_the_fields_of_what_changed_come_before_the_first_of_the_file() -> None:
    columns = ",".join(f"a{number}" for number in range(40))
    head = f"{columns},name,amount\n"
    start = file("wide.csv", head + "0," * 40 + "Ann,1\n")
    end = file("wide.csv", head + "0," * 40 + "Ann,2\n")
    moves = [
        (
            KeyboardInput(keys="2"),
            ControlQuery(text="Row"),
            InputEvent(step=1, kind="text", text="2"),
            {"files": (end,)},
        )
    ]
    seen = recording("n.s", {"amount": "2"}, moves, start={"files": (start,)}, instruction="Set 2.")
    fields = task_shapes([seen])[0].files[0].fields
    assert "amount" in fields and len(fields) <= 16


def test_the_reference_holds_what_the_work_may_need() -> None:
    def needed(path: str, before: str, after: str, *, on_screen: bool = False) -> frozenset[str]:
        typed = InputEvent(step=1, kind="text", text="x")
        moves = [(KeyboardInput(keys="x"), ControlQuery(text="A"), typed, {"files": (file(path, after),)})]
        seen = recording("n.s", {"x": "x"}, moves, start={"files": (file(path, before),)}, instruction="Do.")
        return needed_checks([seen], on_screen=on_screen)

    plain = needed("a.txt", "one", "two")
    assert plain == {"files"}
    assert needed("a.csv", "a,b\n1,2\n", "a,b\n1,3\n") == {"files", "records"}
    assert needed("a.svg", "<svg><rect/></svg>", "<svg><rect/><rect/></svg>") == {"files", "drawing"}
    assert needed("a.csv", "a,b\n1,2\n", "a,b\n1,2\n") == {"files", "screen", "records"}
    whole, short = checks_reference(), checks_reference(plain)
    assert len(short) < 0.6 * len(whole)
    for item in checks().values():
        named = f"def {item.name}(" in short
        if item.in_paper:
            assert named
        else:
            assert named == (item.reads == "files" and not item.of)


def test_messages_in_words_of_the_task_keep_what_the_instruction_says() -> None:
    message = (
        "It said success although the code 'zulu-west' of 'Cid' was replaced by 'north' in 'zulu-westend'"
    )

    told = without_ends(message, PERFORMANCES)

    assert "zulu" not in told
    assert HIDDEN in told
    assert "Cid" in told
    assert "north" in told


def test_functions_that_agree_on_every_state_have_nothing_to_tell(shared_sandbox: EvaluationSandbox) -> None:
    one = function("check_file_contains('Documents/sales.csv', name + ',' + amount + ',zulu-west')")
    other = function("check_file_contains('Documents/sales.csv', ',' + amount + ',zulu-west') and name != ''")

    assert disagreements([one, other], PERFORMANCES, shared_sandbox) == [(), ()]


def test_a_state_that_functions_judge_otherwise_is_told_to_both(shared_sandbox: EvaluationSandbox) -> None:
    hasty = function("check_file_contains('Documents/sales.csv', name + ',' + amount)")
    right = function("check_file_contains('Documents/sales.csv', name + ',' + amount + ',zulu-west')")

    to_hasty, to_right = disagreements([hasty, right], ALIKE, shared_sandbox)

    assert len(to_hasty) == len(to_right) == 2, "one state of each performance"
    assert to_hasty[0].startswith(
        "After step 1 of 'Add Cid with 77 and the usual code.', your function says success"
    )
    assert "your function says failure" in to_right[0]
    assert "another one, written independently for the same instruction, says success" in to_right[0]


def world(sandbox: EvaluationSandbox, models: TestModels, settings: VerificationSettings) -> World:
    return World(models, sandbox, NOTES, verification=settings)


async def test_two_writers_are_asked_apart_and_must_both_be_right(shared_sandbox: EvaluationSandbox) -> None:
    models = TestModels(NOTES)
    done = (await world(shared_sandbox, models, VerificationSettings(writers=2)).verify(WRITE))[WRITE]

    assert done.verified is not None
    calls = models.calls[ModelRole.EVALUATION_WRITER]
    begun = [call for call in calls if not call.question.previous_source]
    assert len(begun) == 2, "neither begins with what the other wrote"
    assert len({call.attempt for call in calls}) == len(calls)


async def test_a_subtask_whose_second_writer_finds_nothing_right_is_rejected(
    shared_sandbox: EvaluationSandbox,
) -> None:
    right = TestModels(NOTES)
    known = (await world(shared_sandbox, right, VerificationSettings()).verify(WRITE))[WRITE].verified
    assert known is not None
    bad = (
        "def evaluate_agent_task_completion(text: str, text_path: str):\n    return EvalResult(True, text +"
        " text_path, 1.0)\n"
    )
    sources = [known.function.source, bad, f"{bad}#\n", f"{bad}##\n"]
    scripted = {ModelRole.EVALUATION_WRITER: [EvaluationWriterReply(source=source) for source in sources]}
    settings = VerificationSettings(writers=2, rounds=1, functions_per_round=3)

    done = (await world(shared_sandbox, TestModels(NOTES, scripted=scripted), settings).verify(WRITE))[WRITE]

    assert done.verified is None
    assert done.rejection is not None
    assert len(done.functions) == 4


async def test_a_writer_is_shown_the_shape_of_the_work_and_no_performance(
    shared_sandbox: EvaluationSandbox,
) -> None:
    known = (await world(shared_sandbox, TestModels(NOTES), VerificationSettings()).verify(WRITE))[
        WRITE
    ].verified
    assert known is not None
    blind = (
        "def evaluate_agent_task_completion(text: str, text_path: str):\n"
        "    return EvalResult(check_file_exists(text_path), 'no file' + text, 1.0)\n"
    )
    replies = [EvaluationWriterReply(source=source) for source in (blind, known.function.source)]
    models = TestModels(NOTES, scripted={ModelRole.EVALUATION_WRITER: replies})

    done = (await world(shared_sandbox, models, VerificationSettings()).verify(WRITE))[WRITE]

    assert done.verified is not None
    first, second = models.calls[ModelRole.EVALUATION_WRITER]
    seen = first.question.performances
    assert [item.parameters for item in seen] == [item.parameters for item in done.verified.trajectories]
    told = first.question.rendered().user
    assert told.count("Places that correct work changes") == len(seen) == 2
    assert told.count("Places that correct work changes: as above") == 1
    for known_file in seen[0].shape.files:
        assert told.count(f"- {known_file.path}") == 1, "equal files are told once"
    assert second.question.feedback
