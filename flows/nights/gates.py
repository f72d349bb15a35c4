"""Gates: conditions for publishing the next version, also in comparison with the previous one."""

from __future__ import annotations

from collections.abc import Iterator

from taskloom.flows.errors import CommandError
from taskloom.flows.running.clock import timestamp
from taskloom.flows.settings import GateSettings
from taskloom.resources.errors import ExitCode
from taskloom.taskgraph.measures.variety_figures import variety_of
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.warehouse.records import GateResult
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.versions import VersionFigures, instructions_of, version_figures

_MOST_COMPARED = 300
"""Maximum number of instructions compared per state for variety."""


def gate_results(
    warehouse: Warehouse, settings: GateSettings, name: str, provenance: Provenance
) -> tuple[GateResult, ...]:
    """All gates of the current state, compared with the last version; `name` identifies the publication."""
    versions = warehouse.versions()
    base = versions[-1].name if versions else ""
    now, then = version_figures(warehouse), version_figures(warehouse, base) if base else VersionFigures()
    results = [*_counts(settings, now, then, base), *_rates(settings, now, then, base)]
    results.append(_variety(warehouse, settings, base))
    return tuple(
        item.model_copy(
            update={"gate_id": f"{name}/{item.gate}", "previous_version": base, "provenance": provenance}
        )
        for item in results
    )


def _counts(
    settings: GateSettings, now: VersionFigures, then: VersionFigures, base: str
) -> Iterator[GateResult]:
    yield GateResult(
        gate_id="",
        gate="fewest_tasks",
        held=now.tasks >= settings.fewest_tasks,
        value=now.tasks,
        previous=then.tasks if base else None,
        limit=settings.fewest_tasks,
        explanation=(
            f"{now.tasks} validated tasks{f', {then.tasks} in {base}' if base else ''};"
            f" gates.fewest_tasks is {settings.fewest_tasks}"
        ),
    )
    for gate, what, counted, limit in (
        ("tasks_lost", "validated tasks", "tasks", settings.tasks_lost),
        ("subtasks_lost", "verified subtasks", "subtasks", settings.subtasks_lost),
    ):
        value, previous = int(getattr(now, counted)), int(getattr(then, counted))
        share = round(max(0.0, 1 - value / previous), 9) if previous else 0.0
        yield GateResult(
            gate_id="",
            gate=gate,
            held=share <= limit,
            value=value,
            previous=previous if base else None,
            limit=limit,
            explanation=(
                f"{value} {what}, {previous} in {base}: {share:.0%} fewer; gates.{gate} allows {limit:.0%}"
                if base
                else f"{value} {what}, and no version to compare with"
            ),
        )


def _rates(
    settings: GateSettings, now: VersionFigures, then: VersionFigures, base: str
) -> Iterator[GateResult]:
    """Rates among items added since the previous version, compared with that one's; only rises count."""
    for gate, what, part, whole in (
        ("task_rejections", "tasks were rejected", "tasks_rejected", "tasks_made"),
        ("subtask_rejections", "subtasks were rejected", "subtasks_rejected", "subtasks_proposed"),
        ("judge_misses", "spoilt instructions escaped the judge", "judge_missed", "judge_trials"),
        ("replay_failures", "replays failed", "replays_failed", "replays"),
    ):
        limit = float(getattr(settings, gate))
        parts, wholes = ([_count(figures, name) for figures in (now, then)] for name in (part, whole))
        new = max(0, wholes[0] - wholes[1])
        worse = min(new, max(0, parts[0] - parts[1]))
        too_few = new < settings.fewest_compared or wholes[1] < settings.fewest_compared
        value = worse / new if new else None
        previous = parts[1] / wholes[1] if wholes[1] else None
        text = f"{worse} of {new} new {what}"
        if previous is not None:
            text += f", {parts[1]} of {wholes[1]} ({previous:.0%}) in {base}"
        if too_few or value is None or previous is None:
            held, text = True, f"{text}; too few to compare"
        else:
            held = round(value - previous, 9) <= limit
            text += f": {value:.0%} against {previous:.0%}; gates.{gate} allows {limit:.0%} more"
        yield GateResult(
            gate_id="", gate=gate, held=held, value=value, previous=previous, limit=limit, explanation=text
        )


def _count(figures: VersionFigures, name: str) -> int:
    if name == "judge_missed":
        return figures.judge_trials - figures.judge_noticed
    return int(getattr(figures, name))


def _variety(warehouse: Warehouse, settings: GateSettings, base: str) -> GateResult:
    """Self-BLEU, which grows with the number, of new instructions and as many of the previous version."""
    old = instructions_of(warehouse, base) if base else []
    new = instructions_of(warehouse, beyond=base) if base else []
    count = min(len(old), len(new), _MOST_COMPARED)
    limit = settings.variety_lost
    result = GateResult(gate_id="", gate="variety_lost", held=True, limit=limit, explanation="")
    if count < max(2, settings.fewest_compared):
        counts = f"{len(new)} new instructions, {len(old)} in {base}" if base else "no version before"
        return result.model_copy(update={"explanation": f"{counts}; too few to compare"})
    figures = [variety_of(texts[:count]) for texts in (new, old)]
    value, previous = (item.self_bleu_4 if item else 0.0 for item in figures)
    return result.model_copy(
        update={
            "held": round(value - previous, 9) <= limit,
            "value": value,
            "previous": previous,
            "explanation": (
                f"self-BLEU-4 of {count} new instructions is {value:.2f}, of as many in {base}"
                f" {previous:.2f}; gates.variety_lost allows {limit:.2f} more"
            ),
        }
    )


def pass_gates(warehouse: Warehouse, settings: GateSettings, *, force: bool = False) -> list[str]:
    """Check the current state, storing the results; returns the failures that `force` overrides.

    Raises:
        CommandError: a gate does not hold.
    """
    name = f"by hand {timestamp()}"
    results = gate_results(warehouse, settings, name, Provenance(stage="publishing"))
    failed = [item.explanation for item in results if not item.held]
    if failed and not force:
        raise CommandError(
            f"nothing is published, because {'a gate does' if len(failed) == 1 else 'gates do'} not hold:"
            f" {'; '.join(failed)}. Change the limits with the settings gates.…, or publish anyway with"
            " --force.",
            ExitCode.GATE_FAILED,
        )
    warehouse.write([item.model_copy(update={"forced": not item.held}) for item in results], replace=True)
    return failed
