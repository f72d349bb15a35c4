"""What is refused before an experiment starts: unknown names, missing keys, files that do not read."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from taskloom.flows.errors import CommandError
from taskloom.flows.hosting.preflight import check_keys, check_settings
from taskloom.flows.settings import Settings, describe_problems
from taskloom.flows.settings_file import parse_yaml
from taskloom.flows.shutting_in import refuse_unconfined
from taskloom.flows.stages.agents import asks_a_model, check_agent, is_own_code
from taskloom.model_clients.lookup import create_client
from taskloom.omnieval.experiments.specification import ExperimentFile
from taskloom.omnieval.lookup import protocol
from taskloom.taskgraph.records.model_calls import ModelRole


def read_experiment(path: Path) -> ExperimentFile:
    """The experiment in a YAML file.

    Raises:
        CommandError: the file cannot be read, or is no experiment; every problem is named.
    """
    if path.exists() and not path.is_file():
        raise CommandError(f"cannot read the experiment {path}: it is no regular file")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read the experiment {path}: {error}") from None
    return experiment_of(parse_yaml(text, str(path)), str(path))


def experiment_of(content: object, name: str) -> ExperimentFile:
    """The experiment that `content` describes; `name` says where it stands.

    Raises:
        CommandError: it is no experiment.
    """
    if not isinstance(content, dict):
        raise CommandError(f"{name} is no experiment: it holds no fields; see docs/agents.md")
    try:
        return ExperimentFile.model_validate(content)
    except ValidationError as error:
        raise CommandError(f"{name} is no experiment:\n{describe_problems(error)}") from None


def check_experiment(experiment: ExperimentFile, settings: Settings) -> None:
    """Check agents, protocol, keys, applications and settings; starts nothing and asks nobody.

    Raises:
        CommandError: an agent or an application is unknown or missing.
        UnknownProtocolError: there is no such protocol.
        KeyMissingError: a model has no key.
    """
    protocol(experiment.protocol)
    for entry in experiment.agents:
        check_agent(entry.agent)
    check_settings(settings)
    refuse_unconfined(settings, agent_acts=any(is_own_code(entry.agent) for entry in experiment.agents))
    asking = [entry for entry in experiment.agents if asks_a_model(entry.agent)]
    for entry in asking:
        if entry.model is not None and not settings.models.replay:
            create_client(entry.model)
    if any(entry.model is None for entry in asking):
        check_keys(settings, (ModelRole.ACTOR,))
