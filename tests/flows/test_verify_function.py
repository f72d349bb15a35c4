"""`taskloom verify` examines functions from files and from a warehouse, without browser or model."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskloom.cli.main import create_app
from taskloom.flows.errors import CommandError
from taskloom.resources.applications import ResourceDeclaration
from taskloom.taskgraph.records.evaluation_function import (
    EvalResult,
    Evaluation,
    EvaluationFunction,
    VerificationRound,
)
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from tests.synthesis.recordings import message_sent, note_written, page_opened, text_copied

GOOD = (
    "def evaluate_agent_task_completion(text_path: str, text: str):\n    done = check_file_text(text_path,"
    " text) and check_file_changed(text_path)\n    return EvalResult(done, 'the file lacks the text', 1.0)\n"
)
WEAK = (
    "def evaluate_agent_task_completion(text_path: str, text: str):\n"
    "    return EvalResult(check_text_exists_via_control(text), 'not shown', 1.0)\n"
)
OTHERS = (text_copied(), message_sent(), page_opened())


def subtask_of(trajectory: Trajectory) -> Subtask:
    return Subtask(
        subtask_id=trajectory.subtask_id,
        application=trajectory.subtask_id.partition(".")[0],
        application_category="Note Management",
        platform="simulated",
        instruction_template="Do it with " + ", ".join(f"{{{name}}}" for name in trajectory.parameters),
        available_parameters=(trajectory.parameters,),
        simulated=True,
    )


WRITE = subtask_of(note_written()).model_copy(
    update={
        "outputs": (ResourceDeclaration(category="text_path", parameter="text_path"),),
        "fresh": ("text_path", "text"),
        "available_parameters": (
            note_written().parameters,
            {"text_path": "Documents/b.txt", "text": "Call Ann"},
        ),
    }
)


@pytest.fixture
def warehouse(tmp_path: Path) -> str:
    location = str(tmp_path / "warehouse")
    records = []
    for trajectory, source in ((note_written(), GOOD), *((item, WEAK) for item in OTHERS)):
        function_id = f"{trajectory.subtask_id}:f"
        subtask = WRITE if trajectory.subtask_id == WRITE.subtask_id else subtask_of(trajectory)
        function = EvaluationFunction(
            function_id=function_id,
            subtask_id=trajectory.subtask_id,
            source=source,
            parameter_names=tuple(trajectory.parameters),
            accepted=trajectory.subtask_id == WRITE.subtask_id,
        )
        round_ = VerificationRound(
            verification_id=f"{function_id}:1",
            subtask_id=trajectory.subtask_id,
            round=1,
            instance_id=trajectory.instance_id,
            trajectory_id=trajectory.trajectory_id,
            function_id=function_id,
            evaluation=Evaluation(outcome="result", result=EvalResult(success=True)),
            accepted=True,
        )
        records += [subtask, trajectory, function, round_]
    with Warehouse(location) as store:
        store.write(records)
    return location


def examined(warehouse: str, source: str, *more: str) -> tuple[int, str]:
    """The answer about a function of one's own for `notes.write`."""
    own = Path(warehouse).parent / "own.py"
    own.write_text(source)
    return run("--subtask", "notes.write", "--function", str(own), "--warehouse", warehouse, *more)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(create_app(), ["verify", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_a_good_function_of_ones_own_is_acceptable(warehouse: str) -> None:
    code, output = examined(warehouse, GOOD)
    assert code == 0
    assert output.rstrip().endswith("\nacceptable")
    for family in (
        "positive",
        "no_op",
        "truncation",
        "wrong_parameter",
        "not_saved",
        "other_subtask",
    ):
        assert family in output


def test_a_weak_one_is_not_and_the_answer_says_why(warehouse: str) -> None:
    code, output = examined(warehouse, WEAK)
    assert code == 1
    assert "It did not say failure although:" in output
    assert "Check what the remaining steps change." in output


def test_json_holds_the_whole_quality(warehouse: str) -> None:
    code, output = examined(warehouse, GOOD, "--json")
    (answer,) = json.loads(output)
    assert code == 0 and answer["reasons"] == []
    assert {kills["family"]: kills["killed"] for kills in answer["quality"]["families"]}["other_subtask"] == 3


def test_thresholds_come_from_the_settings(warehouse: str) -> None:
    assert examined(warehouse, GOOD)[0] == 0
    assert examined(warehouse, GOOD, "--set", "verification.thresholds.second_route_required=true")[0] == 1


def test_a_function_that_reads_the_route_or_asks_what_nothing_needs_is_not_acceptable(warehouse: str) -> None:
    for extra, told in (
        ("check_keyboard_types(text)", "without_route"),
        ("check_window('Notes')", "makes no difference"),
    ):
        source = GOOD.replace("done = ", f"done = {extra} and ")
        code, output = examined(warehouse, source)
        assert code == 1
        assert told in output


def test_a_stored_dataset_is_examined_again(warehouse: str) -> None:
    code, output = run("--all", "--warehouse", warehouse)
    assert code == 0
    assert "notes.write" in output and "yes" in output and "mail.send" not in output


def test_one_stored_function_is_examined_as_the_same_one_from_a_file(warehouse: str) -> None:
    code, output = run("--subtask", "notes.write", "--warehouse", warehouse, "--json")
    again = examined(warehouse, GOOD, "--json")
    assert code == again[0] == 0
    assert json.loads(output)[0]["quality"] == json.loads(again[1])[0]["quality"]


def test_kills_per_family_are_one_query(warehouse: str) -> None:
    from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
    from taskloom.synthesis.examination.examination import build_cases, examine
    from tests.synthesis.recordings import written_instance

    with EvaluationSandbox() as sandbox:
        cases = build_cases(note_written(), instance=written_instance(), other_trajectories=OTHERS)
        quality = examine(GOOD, note_written(), cases, sandbox)
    with Warehouse(warehouse) as store:
        function = next(store.read(EvaluationFunction, "accepted"))
        store.write([function.model_copy(update={"quality": quality})], replace=True)
    result = CliRunner().invoke(
        create_app(), ["sql", "kills", "-p", "function=notes.write", "--warehouse", warehouse, "--json"]
    )
    rows = {row["family"]: row for row in json.loads(result.stdout)}
    assert rows["no_op"]["killed"] == rows["no_op"]["total"] == 1
    assert rows["other_subtask"]["killed"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--function", "f.py"), "--function needs --subtask"),
        (("--all", "--subtask", "x"), "exclude each other"),
        (("--all", "--again", "x"), "--all and --again exclude each other"),
        (("--subtask", "x", "--pairs"), "--subtask and --pairs exclude each other"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run(*arguments)


def test_a_file_that_cannot_be_read_is_named(warehouse: str) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.py cannot be read"):
        run("--subtask", "notes.write", "--function", "nowhere.py", "--warehouse", warehouse)


def test_what_cannot_be_tried_again_is_named_with_what_can(warehouse: str) -> None:
    lost = WRITE.model_copy(update={"subtask_id": "notes.lost", "origin": "proposed"})
    rejections = [
        Rejection(item_kind="subtask", item_id=name, stage="s", reason="not_verified", message="m")
        for name in (lost.subtask_id, WRITE.subtask_id)
    ]
    with Warehouse(warehouse) as store:
        store.write([lost, *rejections])
    message = "'mail.*' names no rejected proposal. Rejected and not verified since: notes.lost."
    with pytest.raises(CommandError, match=re.escape(message)):
        run("--again", "notes.*, mail.*", "--warehouse", warehouse)
