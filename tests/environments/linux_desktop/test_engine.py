"""Container engines are found, called in the way that works here, and tidied up after; a program of the same
name plays them."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from taskloom.environments.errors import EnvironmentBrokenError, MachineUnavailableError
from taskloom.environments.machines import machine as machine_module
from taskloom.environments.machines.engine import Engine, new_name, remove_orphans, working_engine
from taskloom.environments.machines.machine import Machine

Play = Callable[[str, str], Path]


def found(program: Path) -> str | None:
    return str(program) if program.exists() else None


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Puts a program on the path that notes its arguments and does what the given shell lines say."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(shutil, "which", lambda name: found(folder / name))

    def write(name: str, lines: str) -> Path:
        (folder / name).write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{lines}\n')
        (folder / name).chmod(0o755)
        return tmp_path / "calls"

    working_engine.cache_clear()
    yield write
    working_engine.cache_clear()


def test_without_an_engine_one_line_says_what_to_do(play: Play) -> None:
    with pytest.raises(MachineUnavailableError, match=r"podman nor docker is installed\. Install podman"):
        working_engine("image")
    with pytest.raises(MachineUnavailableError, match="docker is not installed"):
        working_engine("image", "docker")


def test_the_plain_call_comes_first_and_is_kept_where_it_works(play: Play) -> None:
    calls = play("podman", "exit 0")
    assert working_engine("image") == Engine("podman")
    assert working_engine("image") == Engine("podman")
    assert sum("run" in line for line in calls.read_text().splitlines()) == 1


def test_a_host_that_needs_more_is_given_more(play: Play) -> None:
    play(
        "podman",
        'case "$*" in image*) exit 0;; *cgroupfs*--runtime*nofile*) exit 0;; esac; echo no >&2; exit 1',
    )
    found = working_engine("image")
    assert (
        "cgroupfs" in found.program_options
        and "--runtime" in found.program_options
        and "nofile=1024:1024" in found.run_options
    )


def test_docker_is_taken_where_podman_does_not_work(play: Play) -> None:
    play(
        "podman",
        'case "$*" in image*) exit 0;; esac; echo cannot clone: Operation not permitted >&2; exit 125',
    )
    play("docker", "exit 0")
    assert working_engine("image").program == "docker"


def test_what_each_engine_said_is_told(play: Play) -> None:
    play("podman", 'case "$*" in image*) exit 0;; esac; echo first; echo cannot clone >&2; exit 125')
    play("docker", "echo is the daemon running? >&2; exit 1")
    with pytest.raises(MachineUnavailableError) as failed:
        working_engine("image")
    message = str(failed.value)
    assert "cannot clone" in message and "docker does not have the image" in message and "\n" not in message


def test_a_failed_build_names_what_the_package_manager_said(play: Play) -> None:
    play("podman", "echo 'E: Unable to locate package nosuch'; echo 'Error: exit status 100' >&2; exit 1")
    with pytest.raises(
        MachineUnavailableError, match=r"E: Unable to locate package nosuch \| Error: exit status 100"
    ):
        Engine("podman").call("build")


def test_only_containers_of_processes_that_are_gone_are_removed(play: Play) -> None:
    mine, gone = new_name(), "taskloom-4194999-123-abcd0123"
    reused = f"taskloom-{os.getpid()}-1-abcd0123"
    calls = play("podman", f'case "$1" in ps) echo {mine} {gone} {reused} taskloom-other;; esac')
    assert remove_orphans(Engine("podman")) == [gone, reused]
    assert mine not in [line.split()[-1] for line in calls.read_text().splitlines() if line.startswith("rm")]


def made(folder: Path) -> Machine:
    return Machine(Engine("podman"), "image", folder, (800, 600), "1g")


async def test_a_full_disk_says_so(play: Play, tmp_path: Path) -> None:
    calls = play(
        "podman", 'case "$1" in run) echo "write /var: no space left on device" >&2; exit 125;; esac'
    )
    with pytest.raises(MachineUnavailableError, match=r"the disk is full\. Free some space"):
        await made(tmp_path).start()
    assert calls.read_text().splitlines()[-1].startswith("rm --force"), "nothing is left behind"


async def test_a_machine_that_never_answers_is_ended_and_its_words_are_told(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_module, "_START_SECONDS", 0.1)
    line = (
        'for w in "$@"; do case "$w" in *:/run/machine) echo no display > "${w%%:*}/server.log";; esac; done'
    )
    calls = play("podman", line)
    machine = made(tmp_path)
    with pytest.raises(EnvironmentBrokenError, match=r"did not answer .* no display"):
        await machine.start()
    assert calls.read_text().splitlines()[-1].startswith("rm --force")
    with pytest.raises(EnvironmentBrokenError, match="not running"):
        await machine.request("observe")
    await machine.stop()


def test_a_machine_gets_neither_network_nor_rights(play: Play, tmp_path: Path) -> None:
    calls = play("podman", "exit 0")
    asyncio.run(
        asyncio.to_thread(Engine("podman").start, "image", tmp_path, {"A": "b"}, memory="1g", name="n")
    )
    told = calls.read_text()
    for option in (
        "--network none",
        "--cap-drop all",
        "--security-opt no-new-privileges",
        "--rm",
        "--memory 1g",
    ):
        assert option in told
    assert "--privileged" not in told and "--publish" not in told
