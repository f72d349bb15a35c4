"""A long command without stages says now and then that it goes on, on standard error only."""

import time

import pytest

from taskloom.cli.activity import activity


def test_something_is_said_while_the_work_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with activity("exporting to out", interval_seconds=0.01):
        deadline = time.monotonic() + 30
        said = ""
        while said.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
            captured = capsys.readouterr()
            assert captured.out == ""
            said += captured.err
    assert said.startswith("exporting to out: 0 s\n")
    after = capsys.readouterr().err
    time.sleep(0.05)
    assert capsys.readouterr().err == "" and after.count("\n") <= 5


def test_a_failure_inside_is_raised_and_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="x"), activity("work", interval_seconds=60):
        raise ValueError("x")
    assert capsys.readouterr().err == ""
