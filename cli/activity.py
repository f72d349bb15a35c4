"""Shows on standard error that a long operation is running, for commands without stages to count."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_INTERVAL_SECONDS = 10.0


@contextmanager
def activity(text: str, interval_seconds: float = _INTERVAL_SECONDS) -> Iterator[None]:
    """Show `text` and the elapsed time while the block runs: live on a terminal, occasionally elsewhere."""
    started = time.monotonic()
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            progress.add_task(text, total=None)
            yield
        return
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(interval_seconds):
            print(f"{text}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)  # noqa: T201

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        ended.set()
        reporter.join()
