"""Has a model write a further kind of world and stores it in the user's catalogue once it passes all
checks."""

from __future__ import annotations

from pathlib import Path

from taskloom.flows.errors import CommandError
from taskloom.flows.settings import Settings
from taskloom.flows.wiring import prepare_data_folder
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.resources.errors import ExitCode
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.world_checks import world_problems
from taskloom.resources.reading.worlds import WorldRules, load_rules, store_rules, world_kinds
from taskloom.resources.record import Record
from taskloom.synthesis.world_writing.world_writing import write_world
from taskloom.taskgraph.records.model_calls import ModelRole

EXAMPLE_KIND = "bakery"
"""The shipped kind that the writer is shown."""


class StoredWorld(Record):
    """A kind of world that was written and passed."""

    kind: str
    """Its name."""
    file: Path
    """Where it is stored."""
    rounds: int
    """Answers that it took."""
    model_calls: int
    """Calls made; what the ledger held is not counted."""
    cost_usd: float
    """Price of the calls."""


def problems_of(rules: WorldRules, catalog: Path | None) -> tuple[str, ...]:
    """Everything wrong with a kind of world, over the whole catalogue; empty if tasks can be made in it."""
    return world_problems(rules, load_rules(), load_applications(catalog), load_resource_categories(catalog))


async def write_kind_of_world(
    kind: str, about: str, settings: Settings, folder: Path, *, rounds: int
) -> StoredWorld:
    """Have the model that plays the world writer write `kind`, and store it in the catalogue folder `folder`.

    Raises:
        CommandError: no model plays the role, the kind exists, or no answer passed all checks (the first
            problems are told).
        ModelClientError: calls cannot go on at all (budget, key, provider).
    """
    if settings.is_offline(ModelRole.WORLD_WRITER):
        raise CommandError(
            "no rule can write a world; name a model for the role world_writer, for example with"
            " --set 'models.roles.world_writer.model={provider: openai, model: NAME}'"
        )
    extra = _catalogue(folder, kind)
    prepare_data_folder(settings.data)
    with Ledger(settings.data / "ledger.sqlite") as ledger:
        async with RoleModels(settings.models, ledger) as models:
            written = await write_world(
                kind,
                about,
                load_rules(),
                load_rules(EXAMPLE_KIND),
                models=models,
                check=lambda rules: problems_of(rules, extra),
                rounds=rounds,
            )
            counters = models.counters.total
    if written.rules is None:
        told = "\n".join(f"  {problem}" for problem in written.problems[:10])
        more = f"\n  and {len(written.problems) - 10} more" if len(written.problems) > 10 else ""
        raise CommandError(
            f"{kind} passed not all checks after {written.rounds} answers; nothing is stored:\n{told}{more}",
            ExitCode.NEGATIVE_ANSWER,
        )
    return StoredWorld(
        kind=kind,
        file=store_rules(written.rules, folder),
        rounds=written.rounds,
        model_calls=counters.calls_made,
        cost_usd=counters.cost_usd,
    )


def _catalogue(folder: Path, kind: str) -> Path | None:
    """The user's catalogue, if there is one yet.

    Raises:
        CommandError: it has a kind of this name.
    """
    extra = folder if folder.is_dir() else None
    if kind in world_kinds(extra):
        raise CommandError(f"there is already a kind of world named {kind!r}; take another name.")
    return extra
