"""What model calls have done so far, readable while they run."""

from dataclasses import dataclass, field

from taskloom.model_clients.messages import ModelReply


@dataclass(slots=True)
class CallSums:
    """Sums over calls."""

    calls_made: int = 0
    """Calls sent and answered, refusals included."""
    from_ledger: int = 0
    """Calls answered by the ledger."""
    retries: int = 0
    """Tries that failed transiently."""
    input_tokens: int = 0
    """Input paid for, cached part included."""
    cached_input_tokens: int = 0
    """Input read from the provider's cache."""
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Price of the calls made, in US dollars."""

    def add(self, reply: ModelReply) -> None:
        """Count a call that was just paid for."""
        self.calls_made += 1
        self.input_tokens += reply.input_tokens
        self.cached_input_tokens += reply.cached_input_tokens
        self.output_tokens += reply.output_tokens
        self.cost_usd += reply.cost_usd

    @property
    def cached_share(self) -> float:
        """Share of the input that the provider's cache held, 0 to 1."""
        return self.cached_input_tokens / self.input_tokens if self.input_tokens else 0.0


@dataclass(slots=True)
class CallCounters:
    """Live figures of all model calls of a process."""

    total: CallSums = field(default_factory=CallSums)
    """Sums over all of them."""
    in_flight: int = 0
    """Calls on the wire now."""
    waiting: int = 0
    """Calls waiting for limits, budget, a batch or another process."""
    pauses: dict[str, str] = field(default_factory=dict)
    """Providers that are paused now, and why."""
