"""What can be said of a dataset's tasks as a whole: its judge of instructions, and how varied they are."""

from __future__ import annotations

from resources.record import Record
from taskgraph.measures.critic_scores import CriticReport, critic_report
from taskgraph.measures.judge_rates import JudgeReport, judge_report
from taskgraph.measures.variety_figures import VarietyFigures, largest_share, variety_of
from taskgraph.records.criticism import Criticism
from taskgraph.records.judge_trial import JudgeTrial
from taskgraph.records.task import Validation
from warehouse.store import Warehouse

JUDGE_UNKNOWN = "not known: no spoilt instruction was given to it"
"""What is said where nothing was spoilt."""
CRITIC_ABSENT = "none: no model plays this role, and rules cannot"
"""What is said where no task was scored."""
_MADE = "status = 'validated'"
_SHARES = {
    "application": f"SELECT application, count(*) FROM (SELECT unnest(applications) AS application FROM tasks WHERE {_MADE}) GROUP BY ALL",
    "scenario": f"SELECT scenario, count(*) FROM tasks WHERE {_MADE} GROUP BY ALL",
    "goal": f"SELECT intent, count(*) FROM tasks WHERE {_MADE} AND intent <> '' GROUP BY ALL",
    "set of subtasks": "SELECT array_to_string(list_sort([node.subtask_id FOR node IN nodes]), ' + '), count(*)"
    f" FROM tasks WHERE {_MADE} GROUP BY ALL",
}


class LargestShare(Record):
    """What most tasks have in common, of one kind."""

    kind: str
    """Application, scenario, goal or set of subtasks."""
    different: int
    """How many different ones there are."""
    name: str
    """The most frequent one."""
    share: float
    """Its share."""


class TaskQuality(Record):
    """Figures of a dataset's tasks."""

    judge: JudgeReport | None
    """What the judge of instructions notices; None if it was not tested."""
    critic: CriticReport | None = None
    """What the critic thinks of tasks; None without one."""
    variety: VarietyFigures | None
    """How varied the instructions are; None without tasks."""
    shares: tuple[LargestShare, ...]
    """What most tasks have in common."""

    def lines(self) -> list[tuple[str, str]]:
        """The figures in words, each with its name."""
        found = []
        if self.judge is None:
            found.append(("judge of instructions", JUDGE_UNKNOWN))
        else:
            found.append(("spoilt instructions that the judge noticed", str(self.judge.hits)))
            found += [
                (f"  {kind.replace('_', ' ')}", str(rate)) for kind, rate in self.judge.hits_by_kind.items()
            ]
            found.append(("first instructions that it refused", str(self.judge.false_alarms)))
        found += [("critic", CRITIC_ABSENT)] if self.critic is None else self.critic.lines()
        if self.variety is not None:
            found += [
                ("words of an instruction", f"{self.variety.words:.0f} on average"),
                ("distinct-1, distinct-2", f"{self.variety.distinct_1:.3f}, {self.variety.distinct_2:.3f}"),
                ("self-BLEU-4", f"{self.variety.self_bleu_4:.3f}"),
                ("overlap with the nearest instruction", f"{self.variety.nearest_overlap:.0%} of word pairs"),
            ]
        found += [
            (f"most frequent {item.kind}", f"{item.share:.0%}: {item.name} ({item.different} different)")
            for item in self.shares
        ]
        return found


def judge_rates(warehouse: Warehouse, run_id: str = "") -> JudgeReport | None:
    """What the judge noticed, over the dataset or in one run; None if it was given no spoilt instructions."""
    where, values = ("run_id = ?", [run_id]) if run_id else ("", [])
    trials = list(warehouse.read(JudgeTrial, where, values, order_by="trial_id"))
    return judge_report(trials, warehouse.read(Validation, where, values)) if trials else None


def critic_scores(warehouse: Warehouse, run_id: str = "") -> CriticReport | None:
    """What the critic thinks of the tasks, over the dataset or in one run; None if it scored none."""
    where, values = ("run_id = ?", [run_id]) if run_id else ("", [])
    scored = list(warehouse.read(Criticism, where, values, order_by="criticism_id"))
    writers = warehouse.query(
        "SELECT DISTINCT provider || '/' || model FROM model_calls WHERE role = 'summarizer'"
    ).rows()
    return critic_report(scored, {str(row[0]) for row in writers})


def task_quality(warehouse: Warehouse) -> TaskQuality:
    """The figures of the validated tasks."""
    texts = [str(row[0]) for row in warehouse.query(f"SELECT instruction FROM tasks WHERE {_MADE}").rows()]
    shares = []
    for kind, statement in _SHARES.items():
        counts = {str(name): int(str(count)) for name, count in warehouse.query(statement).rows()}
        if counts:
            name, share = largest_share(counts)
            if kind == "application":
                share = counts[name] / len(texts)
            shares.append(LargestShare(kind=kind, different=len(counts), name=name[:120], share=share))
    return TaskQuality(
        judge=judge_rates(warehouse),
        critic=critic_scores(warehouse),
        variety=variety_of(texts),
        shares=tuple(shares),
    )
