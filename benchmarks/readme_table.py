"""README's table of measured figures, made from `benchmarks/results`, so that the two cannot differ.

python -m benchmarks.readme_table
"""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- benchmarks: written by `make docs` -->", "<!-- end of benchmarks -->"


def readme_table(results: Path = RESULTS) -> str:
    """A Markdown table of every kept figure that has a goal, and the machines they were measured on."""
    lines = ["| figure | measured | goal | met | compared with |", "|--|--:|--|--|--|"]
    machines: dict[str, list[str]] = {}
    for file in sorted(results.glob("*.json")):
        result = json.loads(file.read_text(encoding="utf-8"))
        figures = [figure for figure in result.get("figures", ()) if figure["goal"]]
        for figure in figures:
            met = {True: "yes", False: "**no**", None: ""}[figure["met"]]
            cells = (figure["goal"], met, figure["baseline"])
            lines.append(
                f"| {figure['name']} | {number(figure['value'])} {figure['unit']} | {' | '.join(cells)} |"
            )
        if figures:
            machines.setdefault(_machine(result["machine"]), []).append(
                f"`{result['benchmark']}` on {str(result['measured'])[:10]}"
            )
    measured = [f"Measured on {machine}: {', '.join(names)}." for machine, names in machines.items()]
    return "\n".join([*lines, "", *measured])


def number(value: float) -> str:
    """A figure with three digits, and whole numbers whole.

    >>> number(67.0), number(123456.7), number(0.12345), number(12.345)
    ('67', '123,457', '0.123', '12.3')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def with_table(readme: str, written: str) -> str:
    """README's text with the table between its marks.

    Raises:
        ValueError: the marks are missing.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"README has no place for the table; it needs the lines {BEGIN!r} and {END!r}.")
    return f"{before}{begin}\n{written}\n{end}{after}"


def write_readme() -> None:
    """Write the table into README."""
    text = README.read_text(encoding="utf-8")
    README.write_text(with_table(text, readme_table()), encoding="utf-8")


def _machine(facts: dict[str, object]) -> str:
    return (
        f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB, {facts['system']},"
        f" Python {facts['python']}, load {facts['load_average']} at the start"
    )


if __name__ == "__main__":
    write_readme()
