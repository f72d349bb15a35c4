"""All settings of a run: one YAML file, then `TASKLOOM_` variables, then options of the command; nothing else
reads these, except that model clients read their keys from the variables that `models` names."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings.exceptions import SettingsError

from taskloom.environments.machines.bubblewrap import Isolation
from taskloom.flows.errors import CommandError
from taskloom.flows.places import DEFAULT_DATA, parse_yaml, read_settings_file, require_moved, settings_file
from taskloom.flows.spare_capacity import first_environments
from taskloom.model_clients.client import PROVIDERS
from taskloom.model_clients.settings import CallSettings, ModelSettings, RoleSettings
from taskloom.offline.models import MODEL, PROVIDER
from taskloom.resources.record import Record, described_schema
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.criticism import CriticSettings
from taskloom.synthesis.cross_verification.function_writing import VerificationSettings
from taskloom.synthesis.exploration.exploration import ExplorationSettings
from taskloom.synthesis.intents import IntentSettings
from taskloom.synthesis.noise.noise import NoiseSettings
from taskloom.synthesis.replay.replay import ReplaySettings
from taskloom.synthesis.trajectories.trajectories import TrajectorySettings
from taskloom.synthesis.validation.validation import ValidationSettings
from taskloom.taskgraph.records.model_calls import ModelRole

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler, JsonValue
    from pydantic_core import CoreSchema

PREFIX = "TASKLOOM_"
_settings_path: ContextVar[Path | None] = ContextVar("file", default=None)
_OTHER_VARIABLES = frozenset({"TASKLOOM_DEBUG", "TASKLOOM_SETTINGS"})
_MOST_PROBLEMS = 20


class FanOutSettings(Record):
    """Where the items of a run are processed."""

    runner: Literal["threads", "dask"] = "threads"
    """`threads`: in the process of the run; `dask`: in worker processes of Dask, which perform subtasks,
    validate and replay tasks, and run agents."""
    workers: int = Field(default=2, ge=1, le=256)
    """Worker processes to start on this machine, each with `environments` environments or, if that is 0, an
    equal share of two per core."""
    scheduler: str = ""
    """Address of a running Dask scheduler, such as `tcp://scheduler.example:8786`, whose workers are used
    instead."""
    host: str = "127.0.0.1"
    """Address of this machine at which workers reach the run; needed if `scheduler` has workers on other
    machines."""
    losses: int = Field(default=10, ge=1)
    """How many workers in a row may die on one item before the run stops."""


class GateSettings(Record):
    """Conditions for publishing a version; a share of 1 lets everything pass."""

    fewest_tasks: int = Field(default=0, ge=0)
    """Minimum number of validated tasks."""
    tasks_lost: float = Field(default=0.1, ge=0, le=1)
    """Largest share of validated tasks that may be lost since the previous version."""
    subtasks_lost: float = Field(default=0.2, ge=0, le=1)
    """Largest share of verified subtasks that may be lost."""
    task_rejections: float = Field(default=0.3, ge=0, le=1)
    """How much higher the share of rejected tasks may be since the previous version than in it."""
    subtask_rejections: float = Field(default=0.3, ge=0, le=1)
    """The same for proposed subtasks."""
    judge_misses: float = Field(default=0.2, ge=0, le=1)
    """The same for spoilt instructions that the judge did not notice. `validation.minimum_hits` is the
    absolute limit."""
    replay_failures: float = Field(default=0.3, ge=0, le=1)
    """The same for failed replays."""
    variety_lost: float = Field(default=0.15, ge=0, le=1)
    """How much the self-BLEU-4 of the new instructions may exceed that of as many old ones."""
    fewest_compared: int = Field(default=20, ge=1)
    """Minimum number of items, both new and in the previous version, for a share to be compared."""


class NightSettings(Record):
    """Settings of nights: builds that extend a dataset on their own."""

    enabled: bool = False
    """Whether a build maintains the dataset (`taskloom build --night`): it explores only what is new or
    changed, performs a share of the verified subtasks again, and composes what the dataset still lacks of
    `composition`, which then describes the whole dataset."""
    recheck_share: float = Field(default=0.05, ge=0, le=1)
    """Share of the verified subtasks that such a build performs again, least recently performed first; if one
    fails, all others of its application are performed too. 0 performs none."""
    recheck_attempts: int = Field(default=2, ge=1)
    """How often a subtask must fail in such a build to be retired."""
    explore_for_shortage: bool = True
    """Whether an unchanged application is explored again, once, if composition now lacks something that it
    did not lack at the last exploration. Only used with a model in the role `explorer`."""


class RunCallSettings(CallSettings):
    """All settings of model calls; roles without a model are played offline."""

    default: ModelSettings = ModelSettings(provider=PROVIDER, model=MODEL)
    """The model of every role that has none of its own; `offline` follows rules and needs no key."""

    @model_validator(mode="after")
    def _check_providers(self) -> Self:
        for player in (RoleSettings(model=self.default), *self.roles.values()):
            if player.model.provider != PROVIDER and player.model.provider not in PROVIDERS:
                known = ", ".join(sorted((*PROVIDERS.names(), PROVIDER)))
                raise ValueError(f"unknown model provider {player.model.provider!r}; known: {known}")
            for model in player.fallbacks:
                if model.provider not in PROVIDERS:
                    raise ValueError(
                        f"{model.provider!r} cannot be a fallback; choose from {', '.join(PROVIDERS.names())}"
                    )
        return self


class Settings(BaseSettings):
    """Settings of a run. An unknown name is an error that suggests the nearest known one."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        protected_namespaces=(),
    )

    data: Path = DEFAULT_DATA
    """Folder for applications, ledger, warehouse and everything else that a run keeps."""
    warehouse: str = ""
    """Where datasets are stored: a folder or a catalogue address; `<data>/warehouse` if empty."""
    browser: Path | None = None
    """Browser executable; by default, one found on the machine."""
    catalog: Path | None = None
    """Folder with applications in addition to the built-in ones."""
    applications: tuple[str, ...] = ()
    """Applications to use; all installed ones if empty."""
    worlds: tuple[str, ...] = ()
    """Worlds, besides the office, in which tasks are composed: kind and seed, such as `bakery-1`. Every
    subtask is verified in the office and in the first of these."""
    platform: str = "web_browser"
    """Platform whose applications are used, or several joined, such as `linux_desktop+web_browser`, whose
    applications then share one screen. `simulated` has a few small ones for tests and trials; their records
    are marked."""
    environments: int = Field(default=0, ge=0, le=64)
    """Number of concurrent environments. With 0: two per core at first, then more while the processor is idle
    (as when models think), or fewer if it or memory runs short."""
    isolation: Isolation = "automatic"
    """Whether bubblewrap isolates applications and evaluation functions: `always`, `never` (at your own
    risk), or `automatic`, which isolates if that works and otherwise refuses to let a model act."""
    fan_out: FanOutSettings = FanOutSettings()
    """Whether performances, validations, replays and attempts of agents run in other processes or on other
    machines."""
    seed: int = 0
    """Seed of every random choice."""
    models: RunCallSettings = RunCallSettings()
    """Which model plays which role, at what speed and cost."""
    noise: NoiseSettings = NoiseSettings()
    """How long the changes that applications make by themselves are observed."""
    exploration: ExplorationSettings = ExplorationSettings()
    """How applications are explored."""
    trajectories: TrajectorySettings = TrajectorySettings()
    """How subtasks are performed."""
    verification: VerificationSettings = VerificationSettings()
    """How trajectories and evaluation functions are verified against each other."""
    intents: IntentSettings = IntentSettings()
    """How goals are found."""
    composition: CompositionRequest = CompositionRequest(count=1200)
    """Which tasks are composed."""
    validation: ValidationSettings = ValidationSettings()
    """How instructions are judged."""
    critic: CriticSettings = CriticSettings()
    """Which tasks the critic scores, and what its scores decide."""
    replay: ReplaySettings = ReplaySettings()
    """How tasks are replayed."""
    replay_share: float = Field(default=0.01, ge=0, le=1)
    """Share of the validated tasks that is replayed."""
    nights: NightSettings = NightSettings()
    """Builds that extend a dataset on their own."""
    gates: GateSettings = GateSettings()
    """Conditions for publishing a version, also in comparison with the previous one."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> dict[str, JsonValue]:
        """The JSON schema, in which settings are described."""
        return described_schema(cls, core_schema, handler)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Options override variables, and variables override the file that `load_settings` found."""
        path = _settings_path.get()
        values = read_settings_file(path) if path is not None else {}
        return (init_settings, env_settings, InitSettingsSource(settings_cls, values))

    @property
    def first_environments(self) -> int:
        """How many environments a process starts with; workers on this machine share its capacity."""
        here = self.fan_out.workers if self.fan_out.runner == "dask" and not self.fan_out.scheduler else 1
        return self.environments or max(1, first_environments() // here)

    @property
    def warehouse_location(self) -> str:
        """Where the warehouse is."""
        return self.warehouse or str(self.data / "warehouse")

    def is_offline(self, role: ModelRole) -> bool:
        """Whether rules play `role` instead of a model."""
        return self.models.role(role).model.provider == PROVIDER

    def same_model(self, *roles: ModelRole) -> str:
        """The model that plays all of these roles; empty if there are several, or rules play one of them."""
        if any(self.is_offline(role) for role in roles):
            return ""
        models = {(model.provider, model.model) for model in (self.models.role(role).model for role in roles)}
        return models.pop()[1] if len(models) == 1 else ""

    @property
    def performing(self) -> TrajectorySettings:
        """How subtasks are performed; rules that play the actor know no tool of a provider."""
        if self.is_offline(ModelRole.ACTOR):
            return self.trajectories.model_copy(update={"actor": "reply"})
        return self.trajectories


def load_settings(
    file: Path | None = None, *, assignments: Iterable[str] = (), **options: object
) -> Settings:
    """The settings of `file` (or of `TASKLOOM_SETTINGS`, or of `taskloom.yaml` if it exists).

    `assignments` are texts such as `composition.count=500`; `options` are top-level fields, where None means
    not given. Both override environment variables, which override the file.

    Raises:
        CommandError: unreadable file, unknown name, or value out of range; all problems are listed.
    """
    values: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for assignment in assignments:
        _assign(values, assignment)
    return _load(file, values)


def _load(file: Path | None, values: Mapping[str, Any]) -> Settings:
    path = settings_file(file)
    _refuse_unknown_variables()
    token = _settings_path.set(path)
    try:
        settings = Settings(**values)
    except SettingsError as error:
        raise CommandError(f"a variable of the environment is not valid: {error}") from None
    except ValidationError as error:
        source = f" (settings file {path})" if path else ""
        raise CommandError(f"the settings are not valid{source}:\n{describe_problems(error)}") from None
    finally:
        _settings_path.reset(token)
    require_moved(settings.data)
    return settings


def settings_of(settings: Settings | Mapping[str, object] | None, file: str) -> Settings:
    """The settings passed to a flow; a mapping, as sent by Prefect's UI, overrides the file."""
    if isinstance(settings, Settings):
        return settings
    return _load(Path(file) if file else None, settings or {})


def describe_problems(error: ValidationError) -> str:
    """One line per problem: field, value, what is allowed, and the known name nearest to an unknown one."""
    lines = []
    problems = error.errors(include_url=False)
    for problem in problems[:_MOST_PROBLEMS]:
        place = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            known = _known_names(problem["loc"][:-1])
            near = get_close_matches(str(problem["loc"][-1]), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            lines.append(f"  {place}: there is no such setting{hint} Known here: {', '.join(known)}")
        elif problem["type"] == "missing":
            lines.append(f"  {place}: this setting is required")
        else:
            lines.append(f"  {place}: {problem['msg']}{_describe_wrong_value(problem['input'])}")
    if len(problems) > _MOST_PROBLEMS:
        lines.append(f"  and {len(problems) - _MOST_PROBLEMS} more")
    return "\n".join(lines)


def _describe_wrong_value(value: object) -> str:
    """The wrong value, shortened; for mappings and lists only the type, because they may include a key."""
    if value is None or isinstance(value, str | int | float):
        return f", not {reprlib.repr(value)}"
    return f", not a {type(value).__name__}"


def _known_names(path: tuple[int | str, ...]) -> list[str]:
    model: Any = Settings
    for part in path:
        field = getattr(model, "model_fields", {}).get(part)
        if field is None:
            return []
        model = field.annotation
    return sorted(getattr(model, "model_fields", {}))


def _refuse_unknown_variables() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | _OTHER_VARIABLES
    for variable in sorted(os.environ):
        if variable.startswith(PREFIX) and variable.split("__")[0] not in known:
            near = get_close_matches(variable, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise CommandError(
                f"the environment variable {variable} is not a setting of taskloom.{hint} Known:"
                f" {', '.join(sorted(known))}"
            )


def _assign(values: dict[str, Any], assignment: str) -> None:
    name, equals, value = assignment.partition("=")
    if not equals or not name.strip():
        raise CommandError(f"--set takes name=value, such as composition.count=500; got {assignment!r}")
    *parents, last = name.strip().split(".")
    section = values
    for parent in parents:
        child = section.setdefault(parent, {})
        if not isinstance(child, Mapping):
            raise CommandError(f"--set {assignment}: {parent!r} already has a value")
        section = child  # type: ignore[assignment]
    section[last] = _parse_value(value)


def _parse_value(text: str) -> object:
    """The value of the YAML `text`, or the text itself if it is not YAML, such as an address."""
    try:
        return parse_yaml(text, "--set")
    except CommandError:
        return text
