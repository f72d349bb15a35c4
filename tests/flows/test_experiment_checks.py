"""What is wrong with an experiment is said before a run begins, and before Prefect is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.experimenting.checking import (
    check_experiment,
    check_tasks,
    experiment_of,
    read_experiment,
)
from taskloom.flows.settings import load_settings
from taskloom.model_clients.errors import KeyMissingError
from taskloom.omnieval.experiments import ExperimentFile
from taskloom.resources.errors import TaskloomError
from tests.flows.conftest import whole_settings

MODEL = {"provider": "openai", "model": "m", "api_key_variable": "NO_SUCH_KEY"}


def checked(data: Path, *assignments: str, **experiment: Any) -> None:
    settings = load_settings(assignments=["platform=simulated", *assignments], data=data)
    check_experiment(experiment_of(experiment, "the experiment"), settings)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ({"agent": "recorded", "settings": {"fault": "sleeps"}}, "The fault 'sleeps' is unknown"),
        ({"agent": "pixels", "model": MODEL, "settings": {"coordinates": "miles"}}, "it must be thousandths"),
        (
            {"agent": "openai_computer", "model": MODEL, "settings": {"safety_checks": "no"}},
            "it must be refuse",
        ),
        ({"agent": "planner_executor", "settings": {"executor": "nobody"}}, "'nobody'"),
        ({"agent": "planner_executor", "settings": {"executor": "planner_executor"}}, "is a planner itself"),
        (
            {"agent": "planner_executor", "settings": {"executor": "pixels", "coordinates": "miles"}},
            "it must be thousandths",
        ),
        ({"agent": "ui_tars_1"}, r"for the role actor, which no rule plays.*give the agent a `model`"),
        ({"agent": "nobody"}, "neither one of"),
        ({"agent": "random", "perception": {"icons": "no-such-folder"}}, "no-such-folder holds no PNG"),
    ],
)
def test_an_agent_that_cannot_be_made_is_refused(agent: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskloomError, match=message):
        checked(tmp_path, agents=[agent])


def test_a_planner_without_a_model_or_a_key_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "sk-test")
    own = {"agent": "planner_executor", "model": {**MODEL, "api_key_variable": "A_KEY"}}
    with pytest.raises(CommandError, match="for the role planner, which no rule plays"):
        checked(tmp_path, agents=[own])
    planner = (
        "models.roles.planner.model.provider=openai",
        "models.roles.planner.model.model=m",
    )
    with pytest.raises(KeyMissingError, match="NO_SUCH_KEY"):
        checked(tmp_path, *planner, "models.roles.planner.model.api_key_variable=NO_SUCH_KEY", agents=[own])
    checked(tmp_path, *planner, "models.roles.planner.model.api_key_variable=A_KEY", agents=[own])
    with pytest.raises(KeyMissingError, match="NO_SUCH_KEY"):
        checked(tmp_path, agents=[{"agent": "ui_tars_1", "model": MODEL}])


@pytest.mark.parametrize(
    ("agent", "text", "message"),
    [
        ("pixels", "Do {{ task }}.", "there is no variable 'task'; known: .*instruction"),
        ("pixels", "Do {{ instruction.", r"not a template: line 1"),
        ("random", "Do it.", "takes no prompt"),
        ("pixels", None, "cannot read the prompt"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_refused(
    agent: str, text: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_SUCH_KEY", "sk-test")
    if text is not None:
        (tmp_path / "own.jinja").write_text(text)
    with pytest.raises(CommandError, match=message):
        check_experiment(
            with_prompt(tmp_path, agent), load_settings(assignments=["platform=simulated"], data=tmp_path)
        )


def test_the_text_of_a_prompt_file_is_kept_with_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("Do {{ instruction }}.")
    assert with_prompt(tmp_path, "pixels").agents[0].prompt == "Do {{ instruction }}."


def with_prompt(folder: Path, agent: str) -> ExperimentFile:
    model = MODEL if agent != "random" else None
    entry = {"agent": agent, "model": model, "prompt_file": "own.jinja"}
    (folder / "experiment.yaml").write_text(json.dumps({"agents": [entry]}))
    return read_experiment(folder / "experiment.yaml")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"where": "nodes_count > 1"}, "nodes_count"),
        ({"ids": ["nothing"]}, "1 of the 1 tasks are not in the warehouse"),
        ({"capability": "flying"}, "Unknown capability 'flying'"),
        ({"applications": ["paint"]}, "paint"),
        ({"where": "node_count > 100"}, "No task meets the selection"),
        ({"export": "nowhere:test"}, "is not the manifest of an export"),
    ],
)
def test_tasks_that_cannot_be_had_are_refused(built_data: Path, tasks: dict[str, Any], message: str) -> None:
    experiment = experiment_of({"agents": ["recorded"], "tasks": tasks}, "the experiment")
    with pytest.raises(TaskloomError, match=message):
        check_tasks(experiment, whole_settings(built_data))


@pytest.mark.slow
def test_tasks_whose_applications_are_not_installed_are_refused_by_their_names(built_data: Path) -> None:
    tasks = {"where": "NOT list_contains(applications, 'simulated_mail')", "size": 2}
    experiment = experiment_of({"agents": ["recorded"], "tasks": tasks}, "the experiment")
    only_mail = whole_settings(built_data, 'applications=["simulated_mail"]')
    with pytest.raises(CommandError, match="2 are selected; not installed here: simulated_"):
        check_tasks(experiment, only_mail)
    check_tasks(experiment, whole_settings(built_data))


HEAVY = ("prefect", "playwright", "openai", "anthropic", "dask", "fastapi", "rapidocr")
"""What a run needs, and a refusal does not."""
REFUSING = f"""
import json, sys

started = []
sys.addaudithook(
    lambda event, arguments: started.append(f"{{event}} {{arguments}}")
    if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "socket.connect") else None
)
import taskloom.cli.main as main

for path in sys.argv[1:]:
    sys.argv = ["taskloom", "evaluate", path, "--set=platform=simulated"]
    try:
        main.main()
    except SystemExit as error:
        print(f"refused {{error.code}}", file=sys.stderr)
loaded = [name for name in {HEAVY} if name in sys.modules]
print(json.dumps([loaded, started]), file=sys.stderr)
"""


@pytest.mark.slow
def test_the_command_refuses_before_anything_heavy_is_imported_or_started(
    built_data: Path, tmp_path: Path
) -> None:
    """No Prefect, no browser driver, no SDK; no process and no connection."""
    refused: dict[str, dict[str, Any]] = {
        "nodes_count": {"agents": ["recorded"], "tasks": {"where": "nodes_count > 1"}},
        "Did you mean 'recorded'": {"agents": ["recorder"]},
        "NO_SUCH_KEY": {"agents": [{"agent": "ui_tars_1", "model": MODEL}]},
        "not in the warehouse": {"agents": ["recorded"], "tasks": {"ids": ["nothing"]}},
        "repeat": {"agents": ["recorded"], "repeat": 2},
    }
    files = []
    for number, experiment in enumerate(refused.values()):
        files.append(tmp_path / f"{number}.yaml")
        files[-1].write_text(json.dumps(experiment))
    done = subprocess.run(
        [sys.executable, "-c", REFUSING, *map(str, files)],
        capture_output=True,
        text=True,
        env={**os.environ, "TASKLOOM_DATA": str(built_data)},
    )
    assert done.stderr.count("refused 2") + done.stderr.count("refused 4") == len(refused)
    assert all(message in done.stderr for message in refused)
    assert json.loads(done.stderr.splitlines()[-1]) == [[], []]
