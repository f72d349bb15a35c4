"""Every curated subtask in the real application; and chains across applications.

Applications are taken from the data folder (`TASKLOOM_DATA`, default `taskloom-data`). All tests share one
environment, so that a browser is started once. `make test-all` performs the first parameter set of each
subtask and its second worked example with another one; `make catalogue` performs every parameter set.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from taskloom.environments.agents.recorded_agent import WorkedExampleAgent
from taskloom.environments.environment import Environment
from taskloom.environments.episode import record_steps
from taskloom.environments.installing.applications import is_installed
from taskloom.environments.lookup import platform
from taskloom.environments.machines.bubblewrap import bubblewrap_works
from taskloom.environments.machines.reaper import MARK, marked_processes
from taskloom.environments.platforms.web_browser.environment import WebEnvironment
from taskloom.resources.applications import Application, ExampleSubtask
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource, provides
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask

pytestmark = [
    pytest.mark.browser,
    pytest.mark.applications,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
]

DATA = Path(os.environ.get("TASKLOOM_DATA", "taskloom-data"))
CATEGORIES = load_resource_categories()
APPLICATIONS = load_applications()
STEP_LIMIT = 30
EVERY_PARAMETER_SET = os.environ.get("TESTS_EXTENT") == "catalogue"
Member = tuple[Application, ExampleSubtask, int]
"""A subtask of the catalogue and the number of its parameter set."""

CHAINS = {
    "csv from JupyterLab into the database and back": (
        ("jupyterlab.create_csv_file", 2),
        ("sqlite_web.import_csv", 2),
        ("sqlite_web.export_table_as_csv", 3),
    ),
    "longer csv from JupyterLab into the database": (
        ("jupyterlab.create_csv_file", 0),
        ("jupyterlab.extend_csv_file", 0),
        ("sqlite_web.import_csv", 2),
    ),
    "database export moved by copyparty": (
        ("sqlite_web.export_table_as_csv", 0),
        ("copyparty.move_csv_file", 1),
    ),
    "database export opened in JupyterLab": (
        ("sqlite_web.export_table_as_json", 0),
        ("jupyterlab.open_json_file", 2),
        ("copyparty.move_json_file", 1),
    ),
    "JSON from JupyterLab into the database": (
        ("jupyterlab.create_json_file", 2),
        ("sqlite_web.import_json", 0),
    ),
    "text from JupyterLab into TiddlyWiki, then deleted": (
        ("jupyterlab.create_text_file", 0),
        ("tiddlywiki.import_text_file", 0),
        ("copyparty.delete_text_file", 0),
    ),
    "Markdown from JupyterLab into TiddlyWiki and to Downloads": (
        ("jupyterlab.create_markdown_file", 1),
        ("tiddlywiki.import_markdown_file", 1),
        ("copyparty.download_markdown_file", 1),
    ),
    "ledger from JupyterLab into Fava": (
        ("jupyterlab.create_ledger_file", 1),
        ("fava.open_ledger_file", 2),
    ),
    "note from TiddlyWiki to JupyterLab": (
        ("tiddlywiki.export_note_as_json", 0),
        ("jupyterlab.open_json_file", 3),
        ("copyparty.move_json_file", 2),
    ),
    "folder made and text filed away": (
        ("copyparty.create_folder", 0),
        ("jupyterlab.create_text_file", 0),
        ("copyparty.file_away", 0),
    ),
    "text from JupyterLab attached in Trac": (
        ("jupyterlab.create_text_file", 0),
        ("trac.attach_text", 0),
    ),
    "image from Excalidraw attached in Trac and filed by copyparty": (
        ("excalidraw.export_text_as_svg", 0),
        ("trac.attach_svg", 0),
        ("copyparty.move_svg_file", 0),
    ),
    "table written by a Supervisor job into the database": (
        ("supervisor.write_table", 1),
        ("sqlite_web.import_csv", 2),
    ),
    "table written by a Node-RED flow counted by a Supervisor job": (
        ("nodered.run_table_flow", 0),
        ("supervisor.count_rows", 0),
    ),
    "diagram drawn, saved and attached in Trac": (
        ("drawio.draw_and_save", 0),
        ("trac.attach_diagram", 0),
    ),
    "clipboard from Node-RED to Trac": (
        ("nodered.copy_flow", 0),
        ("trac.paste_into_new_page", 0),
    ),
    "clipboard from Fava to TiddlyWiki": (
        ("fava.copy_ledger_text", 0),
        ("tiddlywiki.paste_into_new_note", 0),
    ),
    "clipboard from TiddlyWiki to JupyterLab": (
        ("tiddlywiki.copy_note_text", 0),
        ("jupyterlab.paste_into_new_file", 0),
    ),
    "clipboard from the database to TiddlyWiki": (
        ("sqlite_web.copy_first_row", 0),
        ("tiddlywiki.paste_into_new_note", 1),
    ),
}
"""Producers and consumers by subtask and number of the parameter set, performed one after the other."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def environment() -> AsyncIterator[Environment]:
    """One environment of the web browser platform over the installed applications."""
    web = platform("web_browser")
    made = web.create(web.SETTINGS.model_validate({"data_folder": DATA}))
    yield made
    await made.close()


def need(names: Iterable[str]) -> list[Application]:
    """The applications, or a skip that says which one is not installed."""
    wanted = [APPLICATIONS[name] for name in dict.fromkeys(names)]
    for application in wanted:
        if not is_installed(application, DATA):
            pytest.skip(f"{application.title} is not installed in {DATA}; run taskloom install")
    return wanted


def find(name: str) -> tuple[Application, ExampleSubtask]:
    application, _, subtask = name.partition(".")
    examples = APPLICATIONS[application].example_subtasks
    return APPLICATIONS[application], next(item for item in examples if item.name == subtask)


def bind(application: Application, example: ExampleSubtask, index: int) -> BoundSubtask:
    return Subtask.of(example, application, origin="curated").bind(example.parameter_sets[index], CATEGORIES)


def made_by(instances: Sequence[BoundSubtask]) -> set[str]:
    """Files that the instances make without reading them first."""
    made = set()
    for instance in instances:
        read = {item.value for item in instance.inputs}
        made |= {item.value for item in instance.outputs if item.kind is ResourceKind.FILE} - read
    return made


def producers_of(application: Application, instance: BoundSubtask, depth: int = 0) -> list[Member] | None:
    """Subtasks that make, in order, what the instance reads and no fixture provides; None where nobody makes
    it."""
    there = {(fixture.category, fixture.value) for fixture in application.fixtures}
    found: list[Member] = []
    for needed in instance.inputs:
        if (needed.category, needed.value) in there:
            continue
        for candidate in candidates(application, needed):
            producer = bind(*candidate)
            before = producers_of(candidate[0], producer, depth + 1) if depth < 3 else None
            if before is not None and producer.instance_id != instance.instance_id:
                found += [*before, candidate]
                break
        else:
            return None
    return found


def candidates(reader: Application, needed: Resource) -> Iterator[Member]:
    """Installed subtasks that make the resource, those of the reader's application first."""
    for application in sorted(APPLICATIONS.values(), key=lambda item: item.name != reader.name):
        for example in application.example_subtasks if is_installed(application, DATA) else ():
            for index in range(len(example.parameter_sets)):
                if any(provides(item, needed) for item in bind(application, example, index).outputs):
                    yield application, example, index


def problems(instance: BoundSubtask, before: Evidence, after: Evidence) -> list[str]:
    """What the declared outputs and consumed inputs promise and the evidence does not show."""
    paths = {file.path for file in after.files} | set(after.directories)
    found = [
        f"{item.value} was not made"
        for item in instance.outputs
        if item.kind is ResourceKind.FILE and item.value not in paths
    ]
    found += [
        f"{item.value} is still there"
        for item in instance.consumed
        if item.kind is ResourceKind.FILE and item.value in paths
    ]
    if any(item.kind is ResourceKind.CLIPBOARD for item in instance.outputs) and not (
        after.clipboard.text or after.clipboard.image_sha256
    ):
        found.append("the clipboard is empty")
    seen = [(item.text, item.value, item.checked) for item in before.controls]
    unchanged = before.files == after.files and before.directories == after.directories
    same_screen = seen == [(item.text, item.value, item.checked) for item in after.controls]
    if unchanged and same_screen and before.clipboard == after.clipboard:
        found.append("nothing changed")
    return found


async def perform(
    environment: Environment, members: Sequence[Member], *, another_way: bool = False
) -> list[str]:
    """Do the subtasks one after the other from one reset, the last in another way on request; what went
    wrong, by subtask."""
    instances = [bind(*member) for member in members]
    applications = list({item.name: item for item, _, _ in members}.values())
    observation = await environment.reset(applications, without=made_by(instances))
    found = []
    for (application, example, index), instance in zip(members, instances, strict=True):
        if observation.active_application != application.name:
            observation = await environment.bring_to_front(application.name)
        before = await environment.evidence()
        last = instance is instances[-1]
        steps = example.second_example if another_way and last else example.worked_example
        recording = await record_steps(
            environment,
            WorkedExampleAgent(steps, example.parameter_sets[index]),
            instance.instruction,
            observation,
            step_limit=STEP_LIMIT,
        )
        observation = recording.observation
        after = await environment.evidence()
        wrong = (
            [] if recording.termination == "finished" else [f"{recording.termination}: {recording.message}"]
        )
        wrong += problems(instance, before, after)
        wrong += [f"asked for {address}" for address in after.blocked_requests]
        found += [f"{instance.subtask_id} {example.parameter_sets[index]}: {item}" for item in wrong]
        if wrong:
            break
    return found


@pytest.mark.parametrize("name", sorted(name for name, item in APPLICATIONS.items() if item.example_subtasks))
async def test_every_subtask_of_the_application_can_be_done(name: str, environment: Environment) -> None:
    (application,) = need([name])
    failures: list[str] = []
    done = 0
    for example in application.example_subtasks:
        for index in range(len(example.parameter_sets) if EVERY_PARAMETER_SET else 1):
            before = producers_of(application, bind(application, example, index))
            if before is not None:
                failures += await perform(environment, [*before, (application, example, index)])
                done += 1
    assert not failures, "\n".join(failures)
    assert done >= (2 if EVERY_PARAMETER_SET else 1) * len(application.example_subtasks) - 2


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, item in APPLICATIONS.items()
        if any(one.second_example for one in item.example_subtasks)
    ),
)
async def test_every_second_example_does_the_subtask_in_another_way(
    name: str, environment: Environment
) -> None:
    (application,) = need([name])
    failures: list[str] = []
    for example in application.example_subtasks:
        before = producers_of(application, bind(application, example, 1))
        if example.second_example and before is not None:
            failures += await perform(environment, [*before, (application, example, 1)], another_way=True)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("title", CHAINS)
async def test_a_resource_made_in_one_application_is_used_in_another(
    title: str, environment: Environment
) -> None:
    members = [(*find(name), index) for name, index in CHAINS[title]]
    need(application.name for application, _, _ in members)
    assert await perform(environment, members) == []


@pytest.mark.skipif(not bubblewrap_works(), reason="servers that are not confined are always started again")
@pytest.mark.parametrize(
    "name", sorted(name for name, item in APPLICATIONS.items() if item.launch.reads_files_anew)
)
async def test_files_put_back_under_the_running_server_are_a_fresh_start(
    name: str, environment: Environment
) -> None:
    (application,) = need([name])
    await environment.rest()
    fresh = await environment.reset([application]), await environment.evidence()
    server = servers_of(environment)
    failures: list[str] = []
    for example in application.example_subtasks:
        for steps in filter(None, (example.worked_example, example.second_example)):
            recording = await record_steps(
                environment,
                WorkedExampleAgent(steps, example.parameter_sets[0]),
                example.name,
                await environment.reset([application]),
                step_limit=STEP_LIMIT,
            )
            assert recording.steps, example.name
            observation, evidence = await environment.reset([application]), await environment.evidence()
            if servers_of(environment) != server:
                failures.append(f"{example.name}: the server was started again")
                server = servers_of(environment)
            if observation.screenshot != fresh[0].screenshot or observation.controls != fresh[0].controls:
                failures.append(f"{example.name}: the screen is another one")
            if (evidence.files, evidence.directories) != (fresh[1].files, fresh[1].directories):
                failures.append(f"{example.name}: the files are others")
    assert not failures, "\n".join(failures)


def servers_of(environment: Environment) -> set[int]:
    """The processes around the servers of an environment."""
    assert isinstance(environment, WebEnvironment) and environment._sandbox is not None
    return {
        process
        for process in marked_processes(f"{MARK}={environment._sandbox.root}")
        if Path("/proc", str(process), "comm").read_text().strip() == "bwrap"
    }
