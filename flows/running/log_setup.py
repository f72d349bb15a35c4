"""Quiet logs, and a Prefect setup that stays in the data folder and needs no configuration."""

from __future__ import annotations

import logging
import os
from pathlib import Path

_PREFECT_DEFAULTS = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    "PREFECT_CLI_PROMPT": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "PREFECT_TASKS_REFRESH_CACHE": "true",
    "DO_NOT_TRACK": "1",
}


def prepare_prefect(data_folder: Path) -> None:
    """Set the variables that Prefect reads at import, unless the user has set them.

    The database goes into the data folder, so nothing ends up in the user's home; a server that the user runs
    (`PREFECT_API_URL`) is used as it is. Must be called before the first `import prefect`.
    """
    if "PREFECT_HOME" not in os.environ and "PREFECT_API_URL" not in os.environ:
        home = (data_folder / "prefect").resolve()
        home.mkdir(parents=True, exist_ok=True)
        os.environ["PREFECT_HOME"] = str(home)
    for name, value in _PREFECT_DEFAULTS.items():
        os.environ.setdefault(name, value)
    if "PREFECT_API_URL" not in os.environ:
        os.environ.setdefault("PREFECT_LOGGING_TO_API_ENABLED", "false")


def quiet_libraries() -> None:
    """Keep libraries from writing over the progress display; warnings and errors are still shown."""
    for name in (
        "httpx",
        "httpcore",
        "openai",
        "anthropic",
        "asyncio",
        "uvicorn",
    ):
        logging.getLogger(name).setLevel(logging.ERROR)
