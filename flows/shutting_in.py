"""Refusing to let a model act where nothing shuts in what it does."""

from __future__ import annotations

from taskloom.environments import lookup
from taskloom.environments.machines.bubblewrap import REMEDY, WITHOUT, bubblewrap_works
from taskloom.flows.errors import CommandError
from taskloom.flows.settings import Settings
from taskloom.resources.errors import ExitCode
from taskloom.taskgraph.records.model_calls import ModelRole


def refuse_unconfined(settings: Settings, *, agent_acts: bool = False) -> None:
    """Make sure that what a model or a foreign agent does stays in the sandbox, unless the settings waive it.

    The offline rules only do what the catalogue says, and platforms without the setting start no programs.

    Raises:
        CommandError: bubblewrap does not work here; the message says what to do.
    """
    acts = agent_acts or not settings.is_offline(ModelRole.ACTOR)
    starts_programs = any(
        "isolation" in lookup.platform(name).SETTINGS.model_fields
        for name in lookup.platforms_in(settings.platform)
    )
    if settings.isolation != "automatic" or not acts or not starts_programs or bubblewrap_works():
        return
    raise CommandError(
        "a model would act in applications that nothing shuts in: what it types could reach your files and"
        f" network. {WITHOUT}; {REMEDY}, or set isolation to 'never' to take the risk.",
        exit_code=ExitCode.MISSING_REQUIREMENT,
    )
