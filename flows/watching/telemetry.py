"""OpenTelemetry traces and metrics of a run, through its own libraries.

Every item has one trace over all stages: the trace's id follows from the run and the item, so that stages
hours apart, or in other processes, add to the same one. Metrics are read from the run's own counters whenever
they are exported. Without telemetry nothing is imported, and `stage_span` does nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from taskloom.flows.errors import CommandError
from taskloom.flows.running.progress import Progress
from taskloom.model_clients.counters import CallCounters
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.trace import SpanContext, Tracer

_tracer: ContextVar[tuple[Tracer, str] | None] = ContextVar("tracer", default=None)
_inside: ContextVar[bool] = ContextVar("inside", default=False)
_EXPORT_MILLISECONDS = 5_000


def check_telemetry() -> None:
    """Check that the libraries of the extra are there.

    Raises:
        CommandError: they are not.
    """
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None:
        raise CommandError(
            "watching.telemetry needs OpenTelemetry's libraries: pip install 'taskloom[telemetry]', or leave"
            " it out",
            ExitCode.MISSING_REQUIREMENT,
        )


@contextmanager
def stage_span(name: str, item_id: str, **attributes: str | int | float) -> Iterator[None]:
    """One stage of one item as a span of the item's trace; below another span, as its child."""
    current = _tracer.get()
    if current is None:
        yield
        return
    from opentelemetry import trace

    tracer, run_id = current
    root = None
    if not _inside.get():
        root = trace.set_span_in_context(trace.NonRecordingSpan(_root(run_id, item_id)))
    token = _inside.set(True)
    try:
        with tracer.start_as_current_span(
            name, root, attributes={"taskloom.item": item_id, "taskloom.run": run_id, **attributes}
        ):
            yield
    finally:
        _inside.reset(token)


def _root(run_id: str, item_id: str) -> SpanContext:
    """The span that all stages of an item are below, wherever they are done."""
    from opentelemetry.trace import SpanContext, TraceFlags

    digest = hashlib.sha256(f"{run_id} {item_id}".encode()).digest()
    return SpanContext(
        trace_id=int.from_bytes(digest[:16]),
        span_id=int.from_bytes(digest[16:24]),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


@contextmanager
def telemetry(run_id: str, seconds: float, progress: Progress, calls: CallCounters) -> Iterator[None]:
    """While the block runs, traces and metrics of the run go to the collector; the rest of them when it
    ends."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create(
        {"service.name": "taskloom", "service.version": version("taskloom"), "taskloom.run": run_id}
    )
    traces = TracerProvider(resource=resource, shutdown_on_exit=False)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(), export_interval_millis=seconds * 1000)
    metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    _observe(metrics, progress, calls)
    token = _tracer.set((traces.get_tracer("taskloom"), run_id))
    try:
        yield
    finally:
        _tracer.reset(token)
        traces.shutdown()
        metrics.shutdown(timeout_millis=_EXPORT_MILLISECONDS)


def _observe(provider: object, progress: Progress, calls: CallCounters) -> None:
    from opentelemetry.metrics import Observation

    def items(_: CallbackOptions) -> Iterable[Observation]:
        for name, stage in list(progress.stages.items()):
            yield Observation(stage.done, {"stage": name, "outcome": "done"})
            yield Observation(stage.rejected, {"stage": name, "outcome": "rejected"})

    def figures(name: str) -> object:
        return lambda _: [Observation(getattr(calls.total, name))]

    meter = provider.get_meter("taskloom")  # type: ignore[attr-defined]
    meter.create_observable_counter(
        "taskloom.items", [items], "{item}", "Items that came through a stage, or were rejected."
    )
    meter.create_observable_counter("taskloom.calls", [figures("calls_made")], "{call}", "Model calls made.")
    meter.create_observable_counter(
        "taskloom.calls.ledger", [figures("from_ledger")], "{call}", "Replies from the ledger."
    )
    meter.create_observable_counter(
        "taskloom.calls.retries", [figures("retries")], "{call}", "Tries that failed."
    )
    meter.create_observable_counter("taskloom.cost", [figures("cost_usd")], "USD", "What model calls cost.")
    for name, unit, text, value in (
        ("taskloom.calls.waiting", "{call}", "Calls that wait for their turn.", lambda: calls.waiting),
        ("taskloom.calls.in_flight", "{call}", "Calls that wait for their answer.", lambda: calls.in_flight),
        ("taskloom.providers.paused", "{provider}", "Providers that are paused.", lambda: len(calls.pauses)),
    ):
        meter.create_observable_gauge(name, [lambda _, value=value: [Observation(value())]], unit, text)
