"""Live progress on standard error: one line per stage, with rates and, if the total is known, an estimate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

_PLAIN_INTERVAL_SECONDS = 10.0


@dataclass(slots=True)
class StageProgress:
    """Counters of one stage."""

    name: str
    started: float = 0.0
    finished: float = 0.0
    total: int | None = None
    done: int = 0
    rejected: int = 0

    @property
    def seconds(self) -> float:
        """Time since the stage's first item, until its end."""
        if not self.started:
            return 0.0
        return (self.finished or time.monotonic()) - self.started

    def describe(self) -> str:
        """Counts, rate and estimate in one line."""
        count = f"{self.done}" if self.total is None else f"{self.done}/{self.total}"
        parts = [f"{count} done"]
        if self.rejected:
            parts.append(f"{self.rejected} rejected")
        settled = self.done + self.rejected
        if settled and self.seconds > 1:
            rate = settled / self.seconds
            parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.0f}/min")
            if self.total is not None and not self.finished and settled < self.total:
                parts.append(f"about {(self.total - settled) / rate:.0f} s left")
        parts.append(f"{self.seconds:.0f} s")
        return ", ".join(parts)


@dataclass(slots=True)
class Progress:
    """Progress of a run: a live table on a terminal, occasional lines elsewhere, nothing if quiet."""

    quiet: bool = False
    notes: Callable[[], list[str]] = list
    """Returns extra lines, such as model calls made and paused providers."""
    stages: dict[str, StageProgress] = field(default_factory=dict)
    _live: Live | None = None
    _last_plain: float = 0.0

    def __enter__(self) -> Self:
        """Start the display."""
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                get_renderable=self._table, console=Console(stderr=True), refresh_per_second=4, transient=True
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the display."""
        if self._live is not None:
            self._live.stop()

    def begin(self, stage: str, total: int | None = None) -> None:
        """Report that `stage` has started, or that `total` more of its items are known."""
        state = self._stage(stage)
        state.started = state.started or time.monotonic()
        state.finished = 0.0
        if total is not None:
            state.total = (state.total or 0) + total
        self._print_lines()

    def done(self, stage: str, count: int = 1) -> None:
        """Count items that passed."""
        self._stage(stage).done += count
        self._print_lines()

    def rejected(self, stage: str, count: int = 1) -> None:
        """Count items that were rejected."""
        self._stage(stage).rejected += count
        self._print_lines()

    def end(self, stage: str) -> None:
        """Report that `stage` has ended."""
        self._stage(stage).finished = time.monotonic()
        self._print_lines(ended=stage)

    def _stage(self, name: str) -> StageProgress:
        return self.stages.setdefault(name, StageProgress(name))

    def say(self, text: str) -> None:
        """Print a permanent line."""
        if self._live is not None:
            self._live.console.print(text, highlight=False)
        elif not self.quiet:
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - progress goes to standard error

    def _print_lines(self, ended: str = "") -> None:
        if self.quiet or self._live is not None:
            return
        now = time.monotonic()
        if not ended and now - self._last_plain < _PLAIN_INTERVAL_SECONDS:
            return
        self._last_plain = now
        stages = (
            [self.stages[ended]] if ended else [stage for stage in self.stages.values() if not stage.finished]
        )
        for stage in stages:
            self.say(f"{stage.name}: {stage.describe()}")

    def _table(self) -> Table:
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        for stage in self.stages.values():
            table.add_row("[green]✓[/]" if stage.finished else "[cyan]…[/]", stage.name, stage.describe())
        for note in self.notes():
            table.add_row("", "", f"[dim]{note}[/]")
        return table
