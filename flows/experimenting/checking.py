"""Checks before an experiment starts: unknown names, missing keys, unreadable files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from taskloom.environments.evidence.picture_text import available_engine
from taskloom.flows.errors import CommandError
from taskloom.flows.experimenting.fixing import selected_tasks
from taskloom.flows.places import parse_yaml
from taskloom.flows.preflight import check_keys, check_settings
from taskloom.flows.settings import Settings, describe_problems
from taskloom.flows.stages.agents import MODEL, asks_a_model, check_agent, is_own_code, roles_of
from taskloom.flows.wiring import choose_applications, refuse_unconfined
from taskloom.model_clients.client import create_client
from taskloom.omnieval.experiments import AgentEntry, ExperimentFile
from taskloom.omnieval.lookup import PROTOCOLS
from taskloom.prompts.agent_inputs import SpokenActorInput
from taskloom.prompts.inputs import ActorInput, ComputerActorInput
from taskloom.prompts.prompt_input import PromptInput
from taskloom.prompts.rendering import TemplateBrokenError, check_own_prompt
from taskloom.taskgraph.records.agent_run import Experiment
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.warehouse.store import Warehouse

_NOT_INSTALLED = (
    "SELECT task_id, any_value(node.application) FROM (SELECT task_id, unnest(nodes) AS node FROM tasks WHERE"
    " task_id IN (SELECT unnest($tasks::VARCHAR[]))) WHERE node.application NOT IN (SELECT"
    " unnest($installed::VARCHAR[])) GROUP BY task_id"
)


def read_experiment(path: Path) -> ExperimentFile:
    """The experiment in a YAML file.

    Raises:
        CommandError: the file cannot be read, or is not an experiment; every problem is named.
    """
    if path.exists() and not path.is_file():
        raise CommandError(f"cannot read the experiment {path}: it is not a regular file")
    content = parse_yaml(_read_text(path, "the experiment"), str(path))
    for entry in content.get("agents") or () if isinstance(content, dict) else ():
        if isinstance(entry, dict) and "prompt_file" in entry:
            entry["prompt"] = _read_text(path.parent / str(entry.pop("prompt_file")), "the prompt")
    return experiment_of(content, str(path))


def _read_text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read {what} {path}: {error}") from None


def experiment_of(content: object, name: str) -> ExperimentFile:
    """The experiment that `content` describes; `name` is its source, for messages.

    Raises:
        CommandError: it is not an experiment.
    """
    if not isinstance(content, dict):
        raise CommandError(f"{name} is not an experiment: it holds no fields; see docs/agents.md")
    try:
        return ExperimentFile.model_validate(content)
    except ValidationError as error:
        raise CommandError(f"{name} is not an experiment:\n{describe_problems(error)}") from None


def check_experiment(experiment: ExperimentFile, settings: Settings) -> None:
    """Check agents, protocol, keys, applications and settings; starts nothing and calls no model.

    Raises:
        CommandError: an agent or an application is unknown or missing.
        UnknownProtocolError: there is no such protocol.
        KeyMissingError: a model has no key.
    """
    PROTOCOLS.load(experiment.protocol)
    for entry in experiment.agents:
        check_agent(entry.agent, entry.settings)
    check_settings(settings)
    refuse_unconfined(settings, agent_acts=any(is_own_code(entry.agent) for entry in experiment.agents))
    for entry in experiment.agents:
        if asks_a_model(entry.agent) and entry.model is not None and not settings.models.replay:
            create_client(entry.model)
        _refuse_without_model(entry, settings)
        _check_prompt(entry)
        _check_perception(entry)
        check_keys(settings, roles_of(entry))


def _refuse_without_model(entry: AgentEntry, settings: Settings) -> None:
    """Refuse an agent whose model is missing: rules can replace only the actor of builds."""
    missing = [role for role in roles_of(entry) if settings.is_offline(role)]
    if missing and entry.agent != MODEL:
        own = " or give the agent a `model`" if ModelRole.ACTOR in missing else ""
        raise CommandError(
            f"the agent {entry.title!r} asks a model for the role {missing[0]}, which no rule plays; name one"
            f" under models.roles{own}, see docs/settings.md"
        )


def _check_prompt(entry: AgentEntry) -> None:
    if not entry.prompt:
        return
    if entry.agent == MODEL or not asks_a_model(entry.agent):
        raise CommandError(f"the agent {entry.title!r} takes no prompt; leave it out, or name another agent")
    inputs: tuple[type[PromptInput[Any]], ...] = (ActorInput, ComputerActorInput, SpokenActorInput)
    known = {name for kind in inputs for name, field in kind.model_fields.items() if not field.exclude}
    try:
        check_own_prompt(entry.prompt, known)
    except TemplateBrokenError as error:
        raise CommandError(f"the prompt of the agent {entry.title!r} is not a template: {error}") from None


def _check_perception(entry: AgentEntry) -> None:
    wanted = entry.perception
    if wanted is None:
        return
    if wanted.text and available_engine() is None:
        raise CommandError(
            f"the agent {entry.title!r} is to be shown text by OCR, but neither tesseract nor the package"
            " rapidocr is installed; install one, or leave out perception.text"
        )
    if wanted.icons and not any(Path(wanted.icons).glob("*.png")):
        raise CommandError(
            f"the agent {entry.title!r} is to be shown icons, but {wanted.icons} holds no PNG pictures"
        )


def check_tasks(experiment: ExperimentFile, settings: Settings) -> None:
    """Check that there is a task to attempt with the applications installed here; starts no run.

    Raises:
        CommandError: there is none, or a named id or export does not exist.
        SelectionInvalidError, QueryFailedError, QueryRefusedError: the tasks cannot be selected.
    """
    version = experiment.tasks.version or None
    installed = sorted(choose_applications(settings)[0])
    with Warehouse(settings.warehouse_location, read_only=True, version=version) as warehouse:
        if experiment.name and any(warehouse.read(Experiment, "experiment_id = ?", [experiment.name])):
            return
        names = selected_tasks(warehouse, experiment.tasks)
        missing = list(warehouse.query(_NOT_INSTALLED, {"tasks": names, "installed": installed}).rows())
    if len(missing) == len(names):
        applications = ", ".join(sorted({str(row[1]) for row in missing}))
        raise CommandError(
            f"there is no task to attempt: {len(names)} are selected; not installed here: {applications};"
            " widen the selection, or run: taskloom build"
        )
