"""Log lines of a run, for people or as JSON for programs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Literal

RUN_LOG = logging.getLogger("taskloom")
"""Tells what happens in runs; fields of a line are given as `extra={"fields": {...}}`."""
RUN_LOG.addHandler(logging.NullHandler())


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, run and whatever fields the line has."""

    def __init__(self, run_id: str) -> None:
        """For the lines of one run."""
        super().__init__()
        self._run_id = run_id

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "run_id": self._run_id,
            **fields_of(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """Time, level and message, then the fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds")
        fields = "".join(f" {name}={value}" for name, value in fields_of(record).items())
        return f"{at} {record.levelname.lower():7} {record.getMessage()}{fields}"


def fields_of(record: logging.LogRecord) -> Mapping[str, object]:
    """The fields that the line was given."""
    fields = getattr(record, "fields", None)
    return fields if isinstance(fields, Mapping) else {}


@contextmanager
def logged(how: Literal["off", "text", "json"], run_id: str) -> Iterator[None]:
    """While the block runs, lines of taskloom and warnings of libraries go to standard error."""
    if how == "off":
        yield
        return
    root, level = logging.getLogger(), RUN_LOG.level
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(run_id) if how == "json" else TextLines())
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name == RUN_LOG.name)
    RUN_LOG.setLevel(logging.INFO)
    RUN_LOG.propagate = False  # Prefect's handler at the root would show each line once more
    for logger in (root, RUN_LOG):
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in (root, RUN_LOG):
            logger.removeHandler(handler)
        RUN_LOG.setLevel(level)
        RUN_LOG.propagate = True
