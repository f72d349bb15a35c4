"""Log lines of a run on standard error."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Literal

import pytest

from taskloom.flows.hosting.run_logs import RUN_LOG, logged
from taskloom.flows.settings import load_settings


async def test_a_run_has_lines_as_json(
    prefect_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from taskloom.flows.hosting.contexts import begin, timed

    wanted = ["platform=simulated", "logs=json"]
    chosen = load_settings(assignments=wanted, data=tmp_path, applications=("simulated_notes",))
    async with begin(chosen, "verify_subtasks", quiet=True) as work:
        with timed(work.run, "verification"):
            pass
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert [line["message"] for line in lines] == ["run begins", "stage ended", "run completed"]
    assert {line["run_id"] for line in lines} == {work.run.run_id}
    assert lines[1]["stage"] == "verification"


@pytest.mark.parametrize("how", ["text", "json"])
def test_log_lines_hold_their_fields(
    how: Literal["text", "json"], capsys: pytest.CaptureFixture[str]
) -> None:
    with logged(how, "run-1"):
        RUN_LOG.info("stage ended", extra={"fields": {"stage": "replay", "done": 3}})
        logging.getLogger("somebody.else").info("not shown")
    RUN_LOG.info("not shown either")
    (line,) = capsys.readouterr().err.splitlines()
    if how == "json":
        shown = json.loads(line)
        assert (shown["message"], shown["run_id"], shown["done"]) == ("stage ended", "run-1", 3)
    else:
        assert line.endswith("info    stage ended stage=replay done=3")
