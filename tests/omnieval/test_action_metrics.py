"""Metrics of actions against recorded ones, worked by hand from OmniACT's formulas."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.omnieval.action_metrics import (
    Example,
    Statement,
    action_score,
    also_right,
    bleu,
    boxed,
    distance,
    grounding_accuracy,
    next_action_match,
    penalty,
    sequence_score,
    statements_in,
    statements_of,
)
from taskloom.omnieval.lookup import action_measures
from taskloom.taskgraph.reading.task_graphs import read_task_graph
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.gestures import Action, ClickInput, KeyboardInput
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.task import Replay, ReplayedSubtask
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

BOX = (0, 0, 30, 40)  # its diagonal is 50, so that μ is 0.02
GOLD = boxed(
    statements_in("pyautogui.click(15, 20)\npyautogui.write('a new note')\npyautogui.hotkey('ctrl', 's')"),
    [list(BOX)],
)


def values(predicted: str, gold: tuple[Statement, ...] = GOLD) -> dict[str, float | None]:
    return action_measures([Example(gold, statements_in(predicted))])


def test_a_right_script_scores_everything() -> None:
    found = values("pyautogui.click(30, 40)\npyautogui.write('a new note')\npyautogui.hotkey('s', 'ctrl')")
    assert found == {
        "action_score": 1.0,
        "grounding_accuracy": 1.0,
        "next_action_match": None,
        "sequence_score": 1.0,
    }


def test_a_metric_is_undefined_where_nothing_of_its_kind_is_compared() -> None:
    step, script = [Example(GOLD, GOLD, whole=False)], [Example(GOLD, GOLD)]
    assert sequence_score(step) is None and action_score(step) is None
    assert next_action_match(script) is None
    assert grounding_accuracy([Example(GOLD[1:], GOLD)]) is None


def test_three_penalties_by_hand() -> None:
    """SeqScore = 0.1 + 2 = 2.1, α = 0.7. Place: d = 10, 1 − 0.02 / 10.02. Keys: 1. Text: of three words one
    is missing, so precision 1 and brevity e^(1 − 3/2)."""
    found = values("pyautogui.click(40, 20)\npyautogui.write('a new')\npyautogui.hotkey('ctrl', 'a')")
    place, text = 1 - 0.02 / 10.02, 1 - 0.60653066
    assert found["sequence_score"] == 1.0
    assert found["action_score"] == pytest.approx((2.1 - 0.7 * (place + text + 1)) / 2.1, abs=1e-6)
    assert found["grounding_accuracy"] == 0.0


def test_another_order_or_length_scores_nothing() -> None:
    assert values("pyautogui.click(15, 20)")["action_score"] == 0.0
    assert values("")["sequence_score"] == 0.0


def test_longer_scripts_weigh_more() -> None:
    """Ideal scores 0.1 and 1.1: the long one alone is right."""
    short = boxed(statements_in("click(1, 1)"), None)
    long = boxed(statements_in("click(1, 1)\nclick(2, 2)"), None)
    examples = [Example(short, statements_in("scroll(2)")), Example(long, long)]
    assert action_measures(examples)["sequence_score"] == pytest.approx(1.1 / 1.2)


def test_the_same_miss_costs_more_at_a_larger_box() -> None:
    near, far = Statement("click", (0, 0), box=(0, 0, 3, 4)), Statement("click", (0, 0), box=(0, 0, 300, 400))
    assert penalty(near, Statement("click", (13.0, 4.0))) == pytest.approx(1 - 0.2 / 10.2)
    assert penalty(far, Statement("click", (310.0, 400.0))) == pytest.approx(1 - 0.002 / 10.002)
    assert penalty(near, Statement("click", (6.0, 8.0))) == pytest.approx(1 - 0.2 / (0.2 + sqrt(25)))
    assert penalty(near, Statement("click")) == 1.0


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_bleu_is_between_nothing_and_equality(wanted: list[str], said: list[str]) -> None:
    value = bleu(" ".join(wanted), " ".join(said))
    assert 0 <= value <= 1 + 1e-12
    assert bleu(" ".join(wanted), " ".join(wanted)) == pytest.approx(1.0)


@given(st.text(max_size=80))
def test_any_prediction_gives_values(text: str) -> None:
    found = action_measures([Example(GOLD, statements_in(text)), Example(GOLD, statements_in(text), False)])
    assert all(value is not None and 0 <= value <= 1 for value in found.values())


def step(number: int, action: Action, rectangle: tuple[int, int, int, int] | None = None) -> TrajectoryStep:
    return TrajectoryStep(
        step=number,
        observation_screenshot=Screenshot.of(b"x"),
        action=action,
        target_rectangle=rectangle,
        evidence=Evidence(step=number),
    )


def recording(name: str, *steps: TrajectoryStep) -> Trajectory:
    return Trajectory(
        trajectory_id=name,
        subtask_id="s",
        instance_id="i",
        parameters={},
        instruction="",
        platform="p",
        initial_evidence=Evidence(step=0),
        steps=steps,
        termination="finished",
    )


def test_recorded_steps_are_statements_in_their_controls() -> None:
    steps = [
        step(1, ClickInput(point=(15, 20)), BOX),
        step(2, KeyboardInput(point=(15, 20), keys="a{ENTER}"), BOX),
        step(3, ClickInput(point=(1, 1))).model_copy(update={"problem": "refused"}),
        step(4, ClickInput(), (10, 10, 11, 11)),
    ]
    found = statements_of(steps)
    assert [item.name for item in found] == ["click", "click", "write", "press", "click"]
    assert [item.box for item in found] == [BOX, BOX, None, None, (10, 10, 11, 11)]


def test_what_the_graph_allows_instead_is_right_too() -> None:
    """b and c may follow a in either order; d needs both."""
    graph = read_task_graph(
        {"nodes": ["a", "b", "c", "d"], "edges": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]}, {}, str
    )
    places = {"a": 10, "b": 20, "c": 30, "d": 40}
    orders = [("a", "b", "c", "d"), ("a", "c", "b", "d")]
    replays, recorded = [], {}
    for number, order in enumerate(orders):
        nodes = tuple(
            ReplayedSubtask(instance_id=name, success=True, first_step=2 * place + 1, last_step=2 * place + 2)
            for place, name in enumerate(order)
        )
        name = f"t({number})"
        replays.append(
            Replay(replay_id=name, task_id="t", order=order, success=True, subtasks=nodes, trajectory_id=name)
        )
        steps = [
            step(2 * place + 1 + extra, ClickInput(point=(places[node], extra)))
            for place, node in enumerate(order)
            for extra in (0, 1)
        ]
        recorded[name] = recording(name, *steps)
    first = replays[0]
    assert also_right(graph, first, 1, replays, recorded) == ()
    assert also_right(graph, first, 2, replays, recorded) == ()
    (instead,) = also_right(graph, first, 3, replays, recorded)
    assert [item.point for item in instead] == [(30.0, 0.0)]
    assert also_right(graph, first, 5, replays, recorded) == ()
    gold = statements_of(recorded["t(0)"].steps[2:3])
    said = statements_in("pyautogui.click(30, 0)")
    assert action_measures([Example(gold, said, False, (instead,))])["next_action_match"] == 1.0
    assert action_measures([Example(gold, said, False)])["next_action_match"] == 0.0


def test_predictions_for_imported_omniact_tasks_and_recordings_are_scored(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from taskloom.cli.main import create_app
    from taskloom.warehouse.imports.omniact import read
    from taskloom.warehouse.store import Warehouse
    from tests.warehouse.collection_layouts import omniact

    omniact(tmp_path / "omniact")
    (tmp_path / "omniact" / "b.json").write_text(
        json.dumps({"0": {"top_left": [40, 140], "bottom_right": [60, 160], "label": "7", "valid": 1}})
    )
    with Warehouse(tmp_path / "warehouse") as store:
        from taskloom.resources.record import Record

        store.write([item for item in read(tmp_path / "omniact") if isinstance(item, Record)])
    lines = [
        {"task_id": "omniact:train/0", "actions": "pyautogui.click(60, 160)"},
        {"trajectory_id": "omniact:train/0:demonstration", "actions": "pyautogui.click(1, 1)", "step": 1},
    ]
    file = tmp_path / "predictions.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    command = ["match", str(file), "--warehouse", str(tmp_path / "warehouse"), "--json"]
    done = CliRunner().invoke(create_app(), command)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["examples"], found["next_action_match"], found["sequence_score"]) == (2, 0.0, 1.0)
    for wrong, words in [
        ('{"actions": ""}', "line 1"),
        ('{"trajectory_id": "x", "actions": ""}', "no trajectory 'x'"),
        ('{"task_id": "x", "actions": ""}', "not imported from OmniACT"),
        ('{"trajectory_id": "omniact:train/0:demonstration", "actions": "", "step": 9}', "no step 9"),
        ("", "holds no predictions"),
    ]:
        file.write_text(wrong)
        refused = CliRunner().invoke(create_app(), command)
        assert refused.exit_code != 0 and words in refused.output + str(refused.exception)


@given(st.floats(-500, 500), st.floats(-500, 500))
def test_a_point_is_as_far_as_its_nearest_edge(x: float, y: float) -> None:
    gold = Statement("click", box=BOX)
    left, top, right, bottom = BOX
    nearest = min(max(x, left), right), min(max(y, top), bottom)
    assert distance(gold, (x, y)) == pytest.approx(sqrt((x - nearest[0]) ** 2 + (y - nearest[1]) ** 2))
