from taskgraph.records.judge_trial import JudgeTrial
from warehouse.queries import named_query
from warehouse.store import Warehouse
from warehouse.task_quality import judge_rates, task_quality


def test_figures_of_validated_tasks(filled: Warehouse) -> None:
    quality = task_quality(filled)
    assert quality.variety is not None
    (row,) = filled.query("SELECT count(*) FROM tasks WHERE status = 'validated'").rows()
    assert quality.variety.texts == row[0]
    assert {item.kind for item in quality.shares} >= {"application", "scenario", "set of subtasks"}
    assert all(0 < item.share <= 1 for item in quality.shares)
    assert dict(quality.lines())["judge of instructions"].startswith("not known")


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
