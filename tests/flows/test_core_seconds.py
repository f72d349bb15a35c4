"""Processor time belongs to what it was spent on, whoever waited for the process."""

import os
import subprocess
import sys
import time

import pytest

from taskloom.flows.running import core_seconds
from taskloom.flows.running.core_seconds import (
    CoreSeconds,
    Processes,
    ProcessTimes,
    descendants_of,
    since,
    spent_between,
)

OWN = (10, 1)


def reading(*rows: tuple[int, int, float, float, str]) -> Processes:
    return {
        (number, 1): ProcessTimes(parent, used, waited, purpose)
        for number, parent, used, waited, purpose in rows
    }


def test_children_are_for_what_the_process_above_them_is_for() -> None:
    machine = reading(
        (1, 0, 9, 9, ""),
        (10, 1, 1, 0, ""),
        (11, 10, 1, 0, "browsers"),
        (12, 11, 1, 0, ""),
        (13, 10, 1, 0, ""),
        (14, 13, 1, 0, ""),
        (20, 1, 5, 0, "browsers"),
    )
    tree = descendants_of(10, machine, {})
    assert {key[0]: item.purpose for key, item in tree.items()} == {
        10: "taskloom",
        11: "browsers",
        12: "browsers",
        13: "applications",
        14: "applications",
    }
    orphaned = reading((1, 0, 9, 9, ""), (10, 1, 1, 0, ""), (14, 1, 2, 0, ""), (21, 1, 1, 0, ""))
    assert {key[0]: item.purpose for key, item in descendants_of(10, orphaned, tree).items()} == {
        10: "taskloom",
        14: "applications",
    }


def test_what_a_process_used_after_its_last_reading_is_not_lost() -> None:
    before = reading((10, 1, 5, 0, "taskloom"), (11, 10, 2, 0, "browsers"))
    gone = reading((10, 1, 6, 2.5, "taskloom"))
    assert spent_between(before, gone) == {"taskloom": 1, "browsers": 0.5}
    unread = reading((10, 1, 5, 0.25, "taskloom"), (11, 10, 2, 0, "browsers"))
    assert spent_between(before, unread)["taskloom"] == 0.25
    again = {OWN: before[OWN], (11, 2): ProcessTimes(10, 1.0, 0.0, "sandbox")}
    assert spent_between(before, again)["sandbox"] == 1, "the same number, another process"


def test_stages_are_differences() -> None:
    assert since({"a": 1.0, "b": 2.0}, {"a": 1.5, "b": 2.0, "c": 3.0}) == {"c": 3.0, "a": 0.5}


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_child_is_counted_once_and_whole() -> None:
    busy = "import time\nwhile time.process_time() < 0.6: pass"
    with CoreSeconds() as spent:
        subprocess.run([sys.executable, "-c", busy], check=True)
        assert 0.5 <= spent.so_far()["applications"] <= 1.5
        before = spent.so_far()
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        own = since(before, spent.so_far())
        assert 0.1 <= own["taskloom"] <= 0.6 and "applications" not in own


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_processes_elsewhere_on_the_machine_are_read_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    read = core_seconds._read
    monkeypatch.setattr(core_seconds, "_EVERY_SECONDS", 1000)

    def noted(number: int, name: str) -> bytes:
        looked.append(number)
        return read(number, name)

    monkeypatch.setattr(core_seconds, "_read", noted)
    with CoreSeconds() as spent, subprocess.Popen(["sleep", "100"]) as child:
        for _ in range(3):
            looked.clear()
            spent.so_far()
        assert {os.getpid(), child.pid} <= set(looked)
        assert os.getppid() not in looked
        for _ in range(core_seconds._UNRELATED_EVERY):
            spent.so_far()
        assert os.getppid() in looked, "another process may have its number by now"
        child.kill()
