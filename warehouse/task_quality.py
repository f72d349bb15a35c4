"""Quality of a dataset's tasks as a whole: judge of instructions, critic, people, variety and error rates."""

from taskloom.resources.dimensions import TABLE
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.acceptance_rates import (
    AcceptanceReport,
    CriticReport,
    JudgeReport,
    Rate,
    acceptance_report,
    critic_report,
    judge_report,
    rate,
)
from taskloom.taskgraph.measures.cells import Gap, gaps_of
from taskloom.taskgraph.measures.variety_figures import VarietyFigures, variety_of
from taskloom.taskgraph.records.criticism import Criticism, JudgeTrial
from taskloom.taskgraph.records.evaluation_function import JudgedOutcome
from taskloom.taskgraph.records.task import Validation
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.store import Warehouse

JUDGE_UNKNOWN = "not known: no spoilt instruction was given to it"
CRITIC_ABSENT = "none: no model plays this role, and rules cannot"
REVIEWS_UNKNOWN = "not known: nobody has reviewed one"
MOST_COUNTED = 50_000
"""Maximum number of instructions whose variety is measured; of more, a fixed sample is used."""
_LARGEST = (
    "SELECT name, number, count(*) OVER (), sum(number) OVER () FROM ({}) AS counted(name, number)"
    " ORDER BY number DESC, name LIMIT 1"
)
_VALID = "status = 'validated'"
_SHARES = {
    "application": (
        "SELECT application, count(*) FROM (SELECT unnest(applications) AS application FROM tasks WHERE"
        f" {_VALID}) GROUP BY ALL"
    ),
    "scenario": f"SELECT scenario, count(*) FROM tasks WHERE {_VALID} GROUP BY ALL",
    "goal": f"SELECT intent, count(*) FROM tasks WHERE {_VALID} AND intent <> '' GROUP BY ALL",
    "set of subtasks": (
        "SELECT array_to_string(list_sort([node.subtask_id FOR node IN nodes]), ' + '), count(*)"
        f" FROM tasks WHERE {_VALID} GROUP BY ALL"
    ),
}


class LargestShare(Record):
    """The most frequent application, scenario, goal or set of subtasks."""

    kind: str
    """Application, scenario, goal or set of subtasks."""
    different: int
    """How many different ones there are."""
    name: str
    """The most frequent one."""
    share: float
    """Its share."""


class Agreement(Record):
    """How far people agree beyond chance."""

    measure: str
    """Cohen's kappa or Fleiss' kappa."""
    value: float
    """1 is full agreement, 0 agreement by chance."""
    low: float | None
    """Lower end of its 95 % interval; None where it is not defined."""
    high: float | None
    """Upper end of the interval."""
    tasks: int
    """Number of tasks that it is computed from."""

    def __str__(self) -> str:
        """The figure with its interval, as in `0.71 (0.42 to 1.00), 40 tasks`."""
        interval = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.value:.2f}{interval}, {self.tasks} tasks"


class PeopleReport(Record):
    """People's verdicts on the tasks, without their names."""

    accepted: Rate
    """Reviewed tasks that most of those who reviewed them accepted."""
    agreement: Agreement | None
    """How far they agree; None where no two reviewed the same task, or agreement is not defined."""


class TaskQuality(Record):
    """Figures of a dataset's tasks."""

    judge: JudgeReport | None
    """Errors that the judge of instructions notices; None if it was not tested."""
    critic: CriticReport | None = None
    """The critic's scores of tasks; None without a critic."""
    variety: VarietyFigures | None
    """How varied the instructions are; None without tasks."""
    shares: tuple[LargestShare, ...]
    """The largest shares of tasks."""
    people: PeopleReport | None = None
    """People's verdicts on them; None where no task was reviewed."""
    gaps: tuple[Gap, ...] = ()
    """Levels of complexity and capabilities that few tasks have, or none."""

    def lines(self) -> list[tuple[str, str]]:
        """The figures in words, each with its name."""
        rows = []
        if self.judge is None:
            rows.append(("judge of instructions", JUDGE_UNKNOWN))
        else:
            rows.append(("spoilt instructions that the judge noticed", str(self.judge.hits)))
            rows += [
                (f"  {kind.replace('_', ' ')}", str(rate)) for kind, rate in self.judge.hits_by_kind.items()
            ]
            rows.append(("first instructions that it refused", str(self.judge.false_alarms)))
        rows += [("critic", CRITIC_ABSENT)] if self.critic is None else self.critic.lines()
        if self.people is None:
            rows.append(("tasks that people accept", REVIEWS_UNKNOWN))
        else:
            rows.append(("reviewed tasks that most people accepted", str(self.people.accepted)))
            if self.people.agreement is not None:
                rows.append((f"  {self.people.agreement.measure}", str(self.people.agreement)))
        if self.variety is not None:
            rows += [
                ("words of an instruction", f"{self.variety.words:.0f} on average"),
                ("distinct-1, distinct-2", f"{self.variety.distinct_1:.3f}, {self.variety.distinct_2:.3f}"),
                ("self-BLEU-4", f"{self.variety.self_bleu_4:.3f}"),
                ("overlap with the nearest instruction", f"{self.variety.nearest_overlap:.0%} of word pairs"),
            ]
        rows += [
            (f"most frequent {item.kind}", f"{item.share:.0%}: {item.name} ({item.different} different)")
            for item in self.shares
        ]
        return rows


def judge_rates(warehouse: Warehouse, run_id: str = "") -> JudgeReport | None:
    """What the judge noticed, over the dataset or in one run; None if it was given no spoilt instructions."""
    where, values = ("run_id = ?", [run_id]) if run_id else ("", [])
    trials = list(warehouse.read(JudgeTrial, where, values, order_by="trial_id"))
    return judge_report(trials, warehouse.read(Validation, where, values)) if trials else None


def critic_scores(warehouse: Warehouse, run_id: str = "") -> CriticReport | None:
    """The critic's scores of tasks, over the dataset or in one run; None if it scored none."""
    where, values = ("run_id = ?", [run_id]) if run_id else ("", [])
    scored = list(warehouse.read(Criticism, where, values, order_by="criticism_id"))
    writers = warehouse.query(
        "SELECT DISTINCT provider || '/' || model FROM model_calls WHERE role = 'summarizer'"
    )
    return critic_report(scored, set(writers.texts()))


def people_report(warehouse: Warehouse) -> PeopleReport | None:
    """People's verdicts on the tasks; None if no task was reviewed."""
    rows = warehouse.query(named_query("acceptance").sql).as_dicts()
    accepted = next((row for row in rows if row["people"] == "the majority"), None)
    if accepted is None:
        return None
    kappas = [row for row in rows if "kappa" in str(row["measure"]) and row["value"] is not None]
    # For more than two people, Fleiss' kappa, which comes after the pairs.
    chosen = kappas[-1] if kappas and (len(kappas) == 1 or "Fleiss" in str(kappas[-1]["measure"])) else None
    return PeopleReport(
        accepted=rate(int(str(accepted["count"])), int(str(accepted["total"]))),
        agreement=(
            Agreement.model_validate(
                {name: chosen[name] for name in ("measure", "value", "low", "high")}
                | {"tasks": chosen["total"]}
            )
            if chosen
            else None
        ),
    )


def task_quality(warehouse: Warehouse) -> TaskQuality:
    """The figures of the validated tasks."""
    task_count = warehouse.query(f"SELECT count(*) FROM tasks WHERE {_VALID}").number()
    sample = (
        f"SELECT instruction FROM tasks WHERE {_VALID} ORDER BY hash(task_id), task_id LIMIT {MOST_COUNTED}"
    )
    texts = warehouse.query(sample).texts()
    shares = []
    for kind, statement in _SHARES.items():
        row = next(iter(warehouse.query(_LARGEST.format(statement)).rows()), None)
        if row is not None:
            name, count, different, total = str(row[0]), *(int(str(value)) for value in row[1:])
            share = count / (task_count if kind == "application" else total)
            shares.append(LargestShare(kind=kind, different=different, name=name[:120], share=share))
    return TaskQuality(
        judge=judge_rates(warehouse),
        critic=critic_scores(warehouse),
        variety=variety_of(texts),
        shares=tuple(shares),
        people=people_report(warehouse),
        gaps=_gaps(warehouse),
    )


def _gaps(warehouse: Warehouse) -> tuple[Gap, ...]:
    measures = ", ".join(row.column for row in TABLE)
    counted = warehouse.query(f"SELECT {measures}, count(*) FROM tasks WHERE {_VALID} GROUP BY ALL").rows()
    rows = [[int(str(value)) for value in row] for row in counted]
    return gaps_of({tuple(row[:-1]): row[-1] for row in rows}, load_capabilities())


ERROR_RATES_UNKNOWN = (
    "Not known: no labelled outcome was judged with the accepted functions of this dataset. A kill rate says"
    " only how a function does on what it was examined with."
)
_BY_ACCEPTED_FUNCTION = "function_id IN (SELECT function_id FROM evaluation_functions WHERE accepted)"


def error_rates(warehouse: Warehouse) -> AcceptanceReport | None:
    """Error rates overall, by application and by kind of outcome; None without labelled outcomes.

    Only verdicts of functions that this dataset has accepted count.
    """
    outcomes = list(warehouse.read(JudgedOutcome, _BY_ACCEPTED_FUNCTION, order_by="outcome_id"))
    return acceptance_report(outcomes) if outcomes else None
