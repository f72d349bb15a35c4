"""`--dry-run`: what a run would do, and what it may cost, from the ledger's statistics or by rough estimate."""

from __future__ import annotations

from flows.settings import Settings
from flows.wiring import choose_applications, role_settings
from model_clients.ledger import Ledger
from model_clients.prices import prices_of
from model_clients.roles import ModelRole
from model_clients.settings import CallSettings
from resources.record import Record

_ROUGH_TOKENS = {
    ModelRole.EXPLORER: (6000, 4000),
    ModelRole.ACTOR: (5000, 250),
    ModelRole.EVALUATION_WRITER: (7000, 700),
    ModelRole.INTENT_EXTRACTOR: (9000, 2500),
    ModelRole.SUMMARIZER: (1500, 300),
    ModelRole.DEPENDENCY_JUDGE: (1200, 250),
}
"""Input and output tokens of a call, where the ledger knows none of the role yet."""
_ROUGH_STEPS = 8
"""Actor calls in one performance, where nothing is known."""
_ROUGH_FUNCTIONS = 1.6
"""Evaluation functions written per subtask, where nothing is known."""
_ROUGH_ROUNDS = 1.2
"""Instructions per task, where nothing is known."""
_DECLARATION_ROUNDS = 2
"""Proposals asked for per application at least, so that two agree on the declarations."""


class PlannedCalls(Record):
    """Expected calls of one role."""

    role: str
    """Model role."""
    provider: str
    """Provider."""
    model: str
    """Model."""
    calls: int
    """Expected calls."""
    input_tokens: int
    """Expected input."""
    output_tokens: int
    """Expected output."""
    cost_usd: float | None
    """Expected price in US dollars; None where the price table does not know the model."""
    measured: bool
    """Whether tokens per call are the ledger's averages rather than rough estimates."""


class Plan(Record):
    """What a run would do."""

    flow: str
    """The flow."""
    applications: tuple[str, ...]
    """Applications used."""
    missing: dict[str, str]
    """Applications left out, with the reason."""
    environments: int
    """Environments side by side."""
    subtasks: int
    """Subtasks expected."""
    tasks: int
    """Tasks wanted."""
    calls: tuple[PlannedCalls, ...]
    """Expected calls by role. Calls that the ledger answers are not subtracted: this is an upper estimate."""

    def describe(self) -> str:
        """The plan as text."""
        lines = [
            f"{self.flow}: {len(self.applications)} applications ({', '.join(self.applications)}),"
            f" {self.environments} environments, about {self.subtasks} subtasks, {self.tasks} tasks"
        ]
        lines += [f"left out: {name}: {reason}" for name, reason in self.missing.items()]
        lines.append("Expected model calls (upper estimate; what the ledger holds costs nothing)")
        for item in self.calls:
            price = "price unknown" if item.cost_usd is None else f"${item.cost_usd:.2f}"
            basis = "measured" if item.measured else "rough"
            lines.append(
                f"  {item.role:<18} {item.provider}/{item.model}: {item.calls} calls,"
                f" {item.input_tokens:,} + {item.output_tokens:,} tokens, {price} ({basis})"
            )
        known = [item.cost_usd for item in self.calls if item.cost_usd is not None]
        lines.append(f"  in all {sum(item.calls for item in self.calls)} calls, ${sum(known):.2f}")
        return "\n".join(lines)


def plan_run(settings: Settings, flow: str) -> Plan:
    """The plan of a run; nothing is changed, no browser or model is called.

    Raises:
        CommandError: no wanted application is installed, or one is unknown.
    """
    applications, missing = choose_applications(settings)
    wanted = settings.exploration.subtasks_per_application
    per_application = [min(len(item.example_subtasks) or wanted, wanted) for item in applications.values()]
    subtasks = sum(per_application) if flow != "compose_tasks" else 0
    tasks = settings.composition.wanted if flow in ("build_dataset", "compose_tasks") else 0
    verified = flow in ("build_dataset", "verify_subtasks")
    performances = subtasks * settings.verification.parameter_sets if verified else 0
    counts = {
        ModelRole.EXPLORER: len(applications) * _DECLARATION_ROUNDS if subtasks else 0,
        ModelRole.ACTOR: performances * _ROUGH_STEPS,
        ModelRole.EVALUATION_WRITER: round(subtasks * _ROUGH_FUNCTIONS) if verified else 0,
        ModelRole.INTENT_EXTRACTOR: -(-settings.intents.wanted // settings.intents.per_call) if tasks else 0,
        ModelRole.SUMMARIZER: round(tasks * _ROUGH_ROUNDS),
        ModelRole.DEPENDENCY_JUDGE: round(tasks * _ROUGH_ROUNDS),
    }
    averages = _averages(settings)
    calls = role_settings(settings)
    return Plan(
        flow=flow,
        applications=tuple(applications),
        missing=missing,
        environments=settings.environments,
        subtasks=subtasks,
        tasks=tasks,
        calls=tuple(
            _planned(calls, role, count, averages.get(role.value)) for role, count in counts.items() if count
        ),
    )


def _planned(
    calls: CallSettings, role: ModelRole, count: int, average: tuple[float, float] | None
) -> PlannedCalls:
    model = calls.role(role).model
    tokens_in, tokens_out = average or _ROUGH_TOKENS[role]
    price = prices_of(model)
    cost = None
    if model.provider == "offline":
        cost = 0.0
    elif price is not None:
        cost = count * (tokens_in * price.input + tokens_out * price.output) / 1e6
    return PlannedCalls(
        role=role.value,
        provider=model.provider,
        model=model.model,
        calls=count,
        input_tokens=round(count * tokens_in),
        output_tokens=round(count * tokens_out),
        cost_usd=cost,
        measured=average is not None,
    )


def _averages(settings: Settings) -> dict[str, tuple[float, float]]:
    """Input and output tokens per call of each role, over all calls that the ledger holds."""
    path = settings.data / "ledger.sqlite"
    if not path.exists():
        return {}
    with Ledger(path) as ledger:
        rows = ledger.select(
            "SELECT model_role, AVG(input_tokens), AVG(output_tokens) FROM calls WHERE outcome = 'answered'"
            " GROUP BY model_role"
        )
    return {str(role): (float(str(given)), float(str(made))) for role, given, made in rows}
