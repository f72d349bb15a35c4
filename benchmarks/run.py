"""Runs benchmarks and writes `benchmarks/results/<name>.json` with a description of the machine, and their
table in `docs/quality.md`.

A benchmark is a module of this package. If it has `figures(quick)`, that returns a list of `Figure`s, which
are printed as a table; otherwise it has `main()`, is run as a program, and its output is stored as text.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import traceback
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.quality_table import write_page

RESULTS = Path(__file__).parent / "results"
DEFAULT = ("graph_composition", "streamed_tasks", "evaluation", "warehouse", "dataset_scale", "labelled_work")


class NotMeasuredError(Exception):
    """A benchmark cannot run here, for instance because applications are missing; the message says why."""


@dataclass(frozen=True)
class Figure:
    """One measured figure with its goal."""

    name: str
    """What was measured."""
    value: float
    """The figure."""
    unit: str
    """Its unit, such as `times faster`."""
    goal: str = ""
    """The goal in words, such as `50 or more`."""
    met: bool | None = None
    """Whether the goal was met; None without a goal."""
    baseline: str = ""
    """The baseline in the same run."""
    note: str = ""
    """What a reader must know to interpret it."""


def machine() -> dict[str, str | int]:
    """Description of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "processor": model,
        "cores": os.cpu_count() or 1,
        "memory_gib": memory,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_average": f"{os.getloadavg()[0]:.1f}",
    }


def names_of_benchmarks() -> list[str]:
    """Modules of this package that are benchmarks."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")}
    marks = ("\ndef figures(", "\ndef main(")
    return sorted(
        name
        for name, source in sources.items()
        if name not in ("__main__", "run") and any(mark in source for mark in marks)
    )


def run(name: str, arguments: list[str], *, quick: bool) -> bool:
    """Run one benchmark, print and store its results; False if it failed or missed a goal."""
    module = importlib.import_module(f"benchmarks.{name}")
    result: dict[str, object] = {
        "benchmark": name,
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "quick": quick,
    }
    print(f"\n## {name}\n")
    if hasattr(module, "figures"):
        figures: list[Figure] = module.figures(quick)
        print(table(figures))
        result["figures"] = [asdict(figure) for figure in figures]
        succeeded = all(figure.met is not False for figure in figures)
    else:
        command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout)
        result["output"] = done.stdout
        succeeded = done.returncode == 0
    if not quick:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    return succeeded


def _run_guarded(name: str, arguments: list[str], *, quick: bool) -> bool:
    """`run`, without letting a failure keep the other benchmarks from running."""
    try:
        return run(name, arguments, quick=quick)
    except NotMeasuredError as reason:
        print(f"{name} is skipped: {reason}")
        return True
    except Exception:
        traceback.print_exc()
        print(f"{name} failed; its earlier results are kept.")
        return False


def table(figures: list[Figure]) -> str:
    lines = ["| figure | measured | goal | met | compared with |", "|--|--:|--|--|--|"]
    for figure in figures:
        met = {True: "yes", False: "**no**", None: ""}[figure.met]
        lines.append(
            f"| {figure.name} | {figure.value:,.4g} {figure.unit} | {figure.goal} | {met} |"
            f" {figure.baseline} |"
        )
    notes = [f"- {figure.name}: {figure.note}" for figure in figures if figure.note]
    return "\n".join([*lines, "", *notes])


def main() -> None:
    """Run the benchmarks named, or the default ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names_of_benchmarks())}")
    parser.add_argument(
        "--quick", action="store_true", help="smaller workloads; results are printed but not stored"
    )
    arguments, rest = parser.parse_known_args()
    unknown = sorted(set(arguments.names) - set(names_of_benchmarks()))
    if unknown:
        parser.error(f"no benchmark named {unknown[0]}; known: {', '.join(names_of_benchmarks())}")
    print("Machine: " + ", ".join(f"{key} {value}" for key, value in machine().items()))
    succeeded = [_run_guarded(name, rest, quick=arguments.quick) for name in arguments.names or DEFAULT]
    if not arguments.quick:
        write_page()
    sys.exit(0 if all(succeeded) else 1)
