"""The table of measured figures in `docs/quality.md`, generated from `benchmarks/results`, so that the two
cannot differ.

python -m benchmarks.quality_table
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parent
RESULTS = BENCHMARKS / "results"
PAGE = BENCHMARKS.parent / "docs" / "quality.md"
BEGIN, END = "<!-- benchmarks: written by `make docs` -->", "<!-- end of benchmarks -->"


def quality_table(results: Path = RESULTS) -> str:
    """A Markdown table of the figures that have a goal, and the machines on which they were measured."""
    stored: list[dict[str, Any]] = [
        json.loads(file.read_text("utf-8")) for file in sorted(results.glob("*.json"))
    ]
    stored = [result for result in stored if any(figure["goal"] for figure in result.get("figures", ()))]
    shown = [item for item in stored if (BENCHMARKS / f"{item['benchmark']}.py").exists()]
    lines = ["| figure | measured | goal | met | compared with |", "|--|--:|--|--|--|"]
    machines: dict[str, list[str]] = {}
    for result in shown:
        for figure in result["figures"]:
            if figure["goal"]:
                met = {True: "yes", False: "**no**", None: ""}[figure["met"]]
                measured = f"{number(figure['value'])} {figure['unit']}"
                cells = (figure["name"], measured, figure["goal"], met, figure["baseline"])
                lines.append(f"| {' | '.join(cells)} |")
        machines.setdefault(_machine(result["machine"]), []).append(str(result["measured"])[:10])
    notes = [f"Measured on {name}, {_period(dates)}." for name, dates in machines.items()]
    return "\n".join([*lines, "", *notes])


def number(value: float) -> str:
    """A figure with three significant digits; whole numbers stay whole.

    >>> number(67.0), number(123456.7), number(0.12345), number(12.345)
    ('67', '123,457', '0.123', '12.3')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def with_table(page: str, table: str) -> str:
    """The page's text with the table between its marks.

    Raises:
        ValueError: the marks are missing.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"The page has no place for the table; it needs the lines {BEGIN!r} and {END!r}.")
    return f"{before}{begin}\n{table}\n{end}{after}"


def write_page() -> None:
    """Write the table into `docs/quality.md`."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(text, quality_table()), encoding="utf-8")


def _machine(facts: dict[str, object]) -> str:
    return (
        f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB, Python {facts['python']}"
    )


def _period(dates: list[str]) -> str:
    first, last = min(dates), max(dates)
    return f"on {first}" if first == last else f"from {first} to {last}"


if __name__ == "__main__":
    write_page()
