"""One sender per model, sharing the circuits of their providers."""

from __future__ import annotations

from model_clients.batches.batcher import Batcher
from model_clients.batches.journal import BatchJournal
from model_clients.client import BatchClient
from model_clients.counters import CallCounters
from model_clients.ledger.ledger import Ledger
from model_clients.limits.circuits import Circuit
from model_clients.limits.estimates import TokenEstimates
from model_clients.limits.limiter import CallLimiter
from model_clients.limits.sender import Sender
from model_clients.settings import CallSettings, ModelSettings


class Senders:
    """Makes senders when they are first needed.

    Models that differ in parameters only share one limiter, for the provider counts them together; models of one
    server share its circuit.
    """

    def __init__(self, settings: CallSettings, ledger: Ledger, counters: CallCounters) -> None:
        """Build by `settings`; keep batches in `ledger`, report pauses to `counters`."""
        self.estimates = TokenEstimates()
        self._settings, self._ledger, self._counters = settings, ledger, counters
        self._senders: dict[str, Sender] = {}
        self._limiters: dict[tuple[str, str, str], CallLimiter] = {}
        self._circuits: dict[tuple[str, str], Circuit] = {}
        self._batchers: dict[str, Batcher] = {}

    def of(self, model: ModelSettings) -> Sender:
        """The sender of that model."""
        identity = model.model_dump_json()
        if identity not in self._senders:
            circuit = self._circuit(model)
            place = (model.provider, model.base_url, model.model)
            if place not in self._limiters:
                self._limiters[place] = CallLimiter(self._settings.limit(model), circuit)
            self._senders[identity] = Sender(
                settings=model,
                retries=self._settings.retries,
                limiter=self._limiters[place],
                circuit=circuit,
                estimates=self.estimates,
                counters=self._counters,
            )
        return self._senders[identity]

    def batcher(self, model: ModelSettings) -> Batcher | None:
        """The batcher of that model; None without batch mode, or for a provider that takes no batches.

        Raises:
            KeyMissingError: no key in the environment.
        """
        if self._settings.batch is None:
            return None
        identity = model.model_dump_json()
        if identity not in self._batchers:
            client = self.of(model).client()
            if not isinstance(client, BatchClient):
                return None
            journal = BatchJournal(self._ledger, f"{model.provider} {model.base_url} {model.model}")
            self._batchers[identity] = Batcher(client, self._settings.batch, journal, self._counters)
        return self._batchers[identity]

    def stop(self) -> None:
        """Send nothing any more; calls that are going are not touched."""
        for limiter in self._limiters.values():
            limiter.stop()

    async def close(self) -> None:
        """Release all connections."""
        for batcher in self._batchers.values():
            await batcher.close()
        for sender in self._senders.values():
            await sender.close()

    def _circuit(self, model: ModelSettings) -> Circuit:
        place = (model.provider, model.base_url)
        if place not in self._circuits:
            name = model.provider + (f" at {model.base_url}" if model.base_url else "")
            circuit = Circuit(name, self._settings.retries)
            circuit.changed.append(lambda: self._report(circuit))
            self._circuits[place] = circuit
        return self._circuits[place]

    def _report(self, circuit: Circuit) -> None:
        if circuit.reason:
            self._counters.pauses[circuit.name] = circuit.reason
        else:
            self._counters.pauses.pop(circuit.name, None)
