"""Figures of agents, against values worked by hand from the paper's definitions."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from taskloom.omnieval.reports.figures import figures, report_page
from taskloom.omnieval.reports.standings import ScoredAttempt, comparisons, standings
from taskloom.omnieval.reports.tables import tables
from taskloom.taskgraph.records.agent_run import AgentRun, End, Experiment, Standing
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Complexity, Task


def task(name: str, level: str = "easy", twin_of: str = "") -> Task:
    measures = dict.fromkeys(
        ("edges", "nodes", "application_categories", "depth", "width", "largest_layer", "components"), 1
    )
    levels = {
        f"{dimension}_level": level
        for dimension in ("dependency", "instruction", "knowledge", "hierarchy", "branch")
    }
    return Task(
        task_id=name,
        graph=TaskGraph(nodes=()),
        complexity=Complexity.model_validate({**measures, **levels}),
        capabilities=("parallel_planning",) if level == "hard" else (),
        twin_of=twin_of,
    )


def attempt(
    agent: str,
    of: Task,
    scores: Mapping[str, float | None],
    *,
    repeat: int = 0,
    variant: str = "high",
    end: End = "success",
    steps: int = 10,
) -> ScoredAttempt:
    run = AgentRun(
        agent_run_id=f"{agent}{of.task_id}{repeat}{variant}",
        agent=agent,
        task_id=of.task_id,
        instruction="",
        repeat=repeat,
        variant=variant,
        end=end,
        success=bool(scores.get("success")),
        coverage_rate=scores.get("coverage_rate") or 0.0,
        steps=steps,
    )
    return ScoredAttempt(run, of, scores)


def found(rows: tuple[Standing, ...], agent: str, metric: str, group: str = "all") -> Standing:
    return next(item for item in rows if (item.agent, item.metric, item.group) == (agent, metric, group))


def scores(success: float, coverage: float, logical: float | None = None) -> dict[str, float | None]:
    return {"success": success, "coverage_rate": coverage, "logical_consistency": logical}


EASY, HARD = task("easy"), task("hard", "hard")
ATTEMPTS = [
    attempt("a", EASY, scores(1, 1.0, 1.0), repeat=0),
    attempt("a", EASY, scores(0, 0.5, None), repeat=1, end="partial"),
    attempt("a", HARD, scores(0, 0.2, 0.4), repeat=0, end="stalled", steps=20),
    attempt("a", HARD, scores(0, 0.4, 0.2), repeat=1, end="stalled", steps=20),
    attempt("b", EASY, scores(1, 1.0, 1.0)),
    attempt("b", HARD, scores(1, 1.0, 0.5)),
]


def test_means_are_over_tasks_and_leave_out_what_is_undefined() -> None:
    rows = standings(ATTEMPTS)
    assert found(rows, "a", "success").value == pytest.approx(0.25)
    assert found(rows, "a", "coverage_rate").value == pytest.approx((0.75 + 0.3) / 2)
    assert found(rows, "a", "logical_consistency").value == pytest.approx((1.0 + 0.3) / 2)
    assert found(rows, "a", "coverage_rate", "parallel_planning").value == pytest.approx(0.3)
    assert found(rows, "a", "coverage_rate", "knowledge hard").value == pytest.approx(0.3)
    assert found(rows, "a", "pass@1").value == pytest.approx(0.25)
    assert found(rows, "a", "pass@2").value == pytest.approx(0.5)
    assert found(rows, "a", "pass^2").value == 0
    assert found(rows, "a", "steps_per_success").value == 60
    assert found(rows, "b", "steps_per_success").value == 10


def test_agents_are_compared_over_the_tasks_of_both() -> None:
    success = next(item for item in comparisons(ATTEMPTS) if item.metric == "success")
    assert (success.first, success.second, success.tasks) == ("a", "b", 2)
    assert success.difference == pytest.approx(-0.75)
    assert success.p_value == 0.5


def test_sensitivity_is_the_deviation_over_the_orders_of_telling() -> None:
    rows = standings(
        attempt("a", EASY, scores(0, value), variant=variant)
        for variant, value in (("high", 0.2), ("order 1", 0.4), ("order 2", 0.6))
    )
    assert found(rows, "a", "sensitivity").value == pytest.approx(16.3299, abs=1e-3)
    assert found(rows, "a", "coverage_rate", "told order 2").value == pytest.approx(0.6)


def test_another_way_of_telling_is_no_repeat() -> None:
    """Right in both repeats of one telling and in neither of the other: pass@2 is (1 + 0) / 2."""
    rows = standings(
        attempt("a", EASY, scores(variant == "high", 1.0), variant=variant, repeat=repeat)
        for variant in ("high", "low")
        for repeat in (0, 1)
    )
    assert {item.metric for item in rows if item.metric.startswith("pass")} == {
        "pass@1",
        "pass@2",
        "pass^1",
        "pass^2",
    }
    assert found(rows, "a", "pass@2").value == found(rows, "a", "pass^2").value == 0.5


def test_chains_stand_beside_their_graphs() -> None:
    chain = task("chain", twin_of="hard")
    rows = standings([attempt("a", chain, scores(1, 1.0)), attempt("a", HARD, scores(0, 0.25))])
    assert found(rows, "a", "coverage_rate", "chain twins").value == 1
    assert found(rows, "a", "coverage_rate", "graph twins").value == 0.25


def test_tables_and_page_show_texts_as_texts() -> None:
    hostile = "<script>alert(1)</script> & 50%"
    rows = standings(
        [attempt(hostile, EASY, scores(1, 1.0)), attempt(hostile, HARD, scores(0, 0.5), end="failed")]
    )
    invalid = [attempt("b", EASY, {}, end="invalid").run]
    shown = {
        item.name: item for item in tables([*ATTEMPTS], invalid, standings(ATTEMPTS), comparisons(ATTEMPTS))
    }
    assert shown["table_5"].rows[0][1:4] == ("75.0", "–", "30.0 ↓45.0")
    assert dict(zip(shown["ends"].columns, shown["ends"].rows[1], strict=True))["invalid"] == "1"
    rare = [item.model_copy(update={"p_value": 1 / 2001}) for item in comparisons(ATTEMPTS)[:1]]
    (few,) = (item for item in tables([*ATTEMPTS], (), (), rare) if item.name == "comparisons")
    assert few.rows[0][4] == "< 0.001" and "& $<$ 0.001 &" in few.as_latex()
    others = tables([attempt(hostile, EASY, scores(1, 1.0))], (), rows, ())
    assert r"\& 50\%" in others[0].as_latex()
    page = report_page(
        Experiment(experiment_id="e", name=hostile, protocol="paper", holds=False), others, figures(rows), []
    )
    assert "<script>" not in page and "do not hold" in page
