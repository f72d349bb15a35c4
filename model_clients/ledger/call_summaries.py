"""Sums over the ledger's calls, by stage, model and outcome."""

from __future__ import annotations

from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.resources.record import Record


class CallSummary(Record):
    """Calls of one stage to one model with one outcome."""

    stage: str
    """Stage of the method."""
    model: str
    """Provider and model."""
    outcome: str
    """What became of the calls."""
    calls: int
    """How many."""
    retries: int
    """Tries that failed transiently."""
    input_tokens: int
    """Input, cached part included."""
    cached_input_tokens: int
    """Input read from the provider's cache."""
    output_tokens: int
    """Output, reasoning included."""
    cost_usd: float
    """Price in US dollars."""
    calls_without_price: int
    """Calls whose price is unknown."""
    mean_latency_seconds: float
    """Mean time from sending to the last byte."""

    @property
    def cached_share(self) -> float:
        """Share of the input that the provider's cache held, 0 to 1."""
        return self.cached_input_tokens / self.input_tokens if self.input_tokens else 0.0


_FIELDS = tuple(CallSummary.model_fields)


def summarise_calls(ledger: Ledger, run_id: str | None = None) -> list[CallSummary]:
    """The calls of the ledger, or of one run, summed up."""
    condition = "" if run_id is None else "WHERE run_id = ?"
    rows = ledger.select(
        f"""
        SELECT stage, provider || '/' || model, outcome, COUNT(*), SUM(retries), SUM(input_tokens),
               SUM(cached_input_tokens), SUM(output_tokens), SUM(cost_usd), SUM(cost_known = 0), AVG(latency_seconds)
        FROM calls {condition} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        """,  # noqa: E501, S608
        () if run_id is None else (run_id,),
    )
    return [CallSummary.model_validate(dict(zip(_FIELDS, row, strict=True))) for row in rows]
