"""The report: one self-contained HTML file, nothing loaded from outside."""

from __future__ import annotations

import os
from pathlib import Path

from taskloom.warehouse.error_rates import UNKNOWN
from taskloom.warehouse.errors import WarehouseUnavailableError
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.package_files import asset, page_templates
from taskloom.warehouse.viewer.reports.report_data import read_report


def write_report(store: Warehouse, out: Path, *, sample: int = 8, seed: int = 0) -> Path:
    """Write the report of `store` to `out`, complete or not at all.

    All text of the dataset is escaped; only the graph drawings, which taskloom makes itself, and the style
    sheet are markup.

    Raises:
        WarehouseUnavailableError: the file cannot be written.
    """
    page = (
        page_templates()
        .get_template("report.html.jinja")
        .render(
            report=read_report(store, sample=sample, seed=seed),
            style=asset("style.css"),
            rates_unknown=UNKNOWN,
        )
    )
    aside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(page, encoding="utf-8")
        aside.replace(out)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise WarehouseUnavailableError(f"The report {out} cannot be written: {error.strerror}") from None
    return out
