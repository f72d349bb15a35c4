import pytest

from taskloom.resources.dimensions import LEVELS, TABLE
from taskloom.taskgraph.records.criticism import Criticism, JudgeTrial, Score
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.records import ModelCallRecord
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import judge_rates, task_quality


def test_figures_of_validated_tasks(filled: Warehouse) -> None:
    quality = task_quality(filled)
    assert quality.variety is not None
    (row,) = filled.query("SELECT count(*) FROM tasks WHERE status = 'validated'").rows()
    assert quality.variety.texts == row[0]
    assert {item.kind for item in quality.shares} >= {"application", "scenario", "set of subtasks"}
    assert all(0 < item.share <= 1 for item in quality.shares)
    assert dict(quality.lines())["judge of instructions"].startswith("not known")


def test_levels_that_few_tasks_have_are_named(filled: Warehouse) -> None:
    gaps = task_quality(filled).gaps
    assert gaps and all(gap.missing for gap in gaps)
    for row in TABLE:
        values = filled.query(f"SELECT {row.column} FROM tasks WHERE status = 'validated'").rows()
        reached = {row.level(int(str(value))) for (value,) in values}
        empty = {gap.name for gap in gaps if gap.name.endswith(f" in {row.name}") and not gap.tasks}
        assert empty == {f"{level} in {row.name}" for level in LEVELS if level not in reached}


def test_of_very_many_tasks_a_sample_is_counted(filled: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = task_quality(filled)
    monkeypatch.setattr("taskloom.warehouse.task_quality.MOST_COUNTED", 1)
    sampled = task_quality(filled)
    assert sampled.variety is not None and sampled.variety.texts == 1
    assert sampled.variety == task_quality(filled).variety
    assert sampled.shares == whole.shares


def test_what_the_judge_noticed_is_counted(filled: Warehouse) -> None:
    assert judge_rates(filled) is None
    filled.write(
        [
            JudgeTrial(
                trial_id=f"t{number}", task_id="t", kind="left_out", instruction="x", noticed=number > 0
            )
            for number in range(4)
        ]
    )
    rates = judge_rates(filled)
    assert rates is not None
    assert (rates.hits.count, rates.hits.of) == (3, 4)
    rows = filled.query(named_query("judge").sql).as_dicts()
    assert {"all spoilt", "left_out", "first instructions"} >= {str(row["instructions"]) for row in rows}


def test_without_a_critic_the_figures_say_so_and_with_one_they_warn_of_its_own_writing(
    filled: Warehouse,
) -> None:
    assert dict(task_quality(filled).lines())["critic"].startswith("none: no model plays this role")
    low, high = (Score(score=score, reason="so") for score in (2, 5))
    filled.write(
        [
            Criticism(
                criticism_id="task-1:openai/m",
                task_id="task-1",
                instruction="x",
                naturalness=high,
                sense=low,
                feasibility=high,
                critic="openai/m",
            ),
            ModelCallRecord(call_id="1", role=ModelRole.SUMMARIZER, provider="openai", model="m"),
        ]
    )
    lines = dict(task_quality(filled).lines())
    assert lines["critic's mean scores, of 5"].startswith(
        "naturalness 5.00, sense 2.00, feasibility 5.00 (1 tasks"
    )
    assert "openai/m both wrote instructions and scored tasks" in lines["warning"]
    (row,) = filled.query(named_query("critic").sql).as_dicts()
    assert (row["task_id"], row["lowest"], row["sense_reason"]) == ("task-1", 2, "so")
