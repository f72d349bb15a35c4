"""Checks before a run begins: applications, data folder, budgets, files, keys, agent."""

from __future__ import annotations

from taskloom.flows.errors import CommandError
from taskloom.flows.fan_out.dask_workers import check_runner
from taskloom.flows.settings import Settings
from taskloom.flows.wiring import choose_applications, prepare_data_folder
from taskloom.model_clients.client import create_client
from taskloom.model_clients.errors import KeyMissingError
from taskloom.model_clients.ledger.budget import Budget, prices_of
from taskloom.taskgraph.records.model_calls import ModelRole

RUN_ROLES = tuple(role for role in ModelRole if role is not ModelRole.PLANNER)
"""Roles that may be asked during a run."""


def check_settings(settings: Settings) -> None:
    """Check that a run with these settings can begin; creates its data folder.

    Raises:
        CommandError: no requested application can be started, the data folder cannot be written, the runner
            of `fan_out` is not installed, or the critic decides and no model plays it.
        BudgetInvalidError: a budget cannot be read.
    """
    check_runner(settings.fan_out)
    choose_applications(settings)
    Budget.of(settings.models.budget)  # raises if it cannot be read
    deciding = settings.critic.reject_below or settings.critic.minimum_mean
    if deciding and settings.is_offline(ModelRole.CRITIC):
        raise CommandError(
            "critic.reject_below and critic.minimum_mean need a critic, and no rule plays one; name a model"
            " for the role critic, or leave them out"
        )
    prepare_data_folder(settings.data)


def check_keys(settings: Settings, roles: tuple[ModelRole, ...] = RUN_ROLES) -> None:
    """Check that the model of each of `roles`, or one of its fallbacks, can be asked; sends nothing.

    Raises:
        KeyMissingError: the environment holds no key for a role.
        UnknownProviderError: there is no such provider.
    """
    if settings.models.replay:
        return
    for player in (settings.models.role(role) for role in roles if not settings.is_offline(role)):
        problems: list[KeyMissingError] = []
        for model in (player.model, *player.fallbacks):
            try:
                create_client(model)
            except KeyMissingError as error:
                problems.append(error)
        if len(problems) == 1 + len(player.fallbacks):
            raise problems[0]


def unpriced(settings: Settings) -> tuple[str, ...]:
    """Models without a known price that the run may call, fallbacks included; sends nothing.

    Raises:
        BudgetInvalidError: there are some, and the budget is in money.
    """
    if settings.models.replay:
        return ()
    players = [settings.models.role(role) for role in RUN_ROLES if not settings.is_offline(role)]
    models = [model for player in players for model in (player.model, *player.fallbacks)]
    names = tuple(
        dict.fromkeys(f"{item.provider}/{item.model}" for item in models if prices_of(item) is None)
    )
    Budget.of(settings.models.budget).check_prices(names)
    return names
