"""Settings of model calls: which model plays which role, with what parameters, at what speed."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, field_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.model_calls import ModelRole


class ModelPrices(Record):
    """Prices of a model in US dollars per million tokens."""

    input: float = Field(ge=0)
    """Input that is not cached."""
    output: float = Field(ge=0)
    """Output, reasoning included."""
    cached_input: float | None = Field(default=None, ge=0)
    """Input read from the provider's cache; the input price if omitted."""
    cache_write: float | None = Field(default=None, ge=0)
    """Input written to the provider's cache; the input price if omitted."""
    batch_factor: float = Field(default=0.5, gt=0, le=1)
    """Price of a call in a batch, as a share of the normal price."""


class ModelParameters(Record):
    """Parameters sent with each request; omitted ones are left to the provider's default."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus sampling."""
    max_output_tokens: int | None = Field(default=None, ge=1)
    """Maximum reply length, reasoning included, in tokens."""
    reasoning_effort: str = ""
    """Reasoning effort (`low`, `medium`, `high`, …), for models that accept it."""
    seed: int | None = None
    """Sampling seed, for providers that accept one."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Additional fields of the provider's request body, sent unchanged."""


class ModelSettings(Record):
    """One model of one provider. Everything here but timeouts, prices and the key's variable is part of a
    call's identity."""

    provider: str
    """Module of `model_clients/providers/`."""
    model: str
    """The provider's name of the model."""
    base_url: str = ""
    """Address of the server; the provider's own if empty."""
    api_key_variable: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    """Environment variable that holds the key; `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` if empty."""
    protocol: Literal["", "responses", "chat_completions"] = ""
    """Which of OpenAI's protocols a server speaks: `responses` if empty, `chat_completions` for most
    compatible servers."""
    structured_output: Literal["schema", "tool", "json"] = "schema"
    """How to request a typed reply: by JSON schema, as a tool call, or in plain words."""
    computer_tool: str = ""
    """Version of the provider's computer tool; the newest if empty. Older ones: `computer_use_preview` of
    OpenAI, `computer_20251124` and `computer_20250124` of Anthropic."""
    image_detail: Literal["auto", "low", "high"] = "auto"
    """How closely OpenAI looks at pictures."""
    parameters: ModelParameters = ModelParameters()
    """What is sent with each request."""
    prices: ModelPrices | None = None
    """Prices; those of the price table if omitted."""
    first_byte_seconds: float = Field(default=300, gt=0)
    """Longest time without data from the server before the call is aborted."""
    total_seconds: float = Field(default=600, gt=0)
    """Longest duration of one try of a call."""

    @field_validator("base_url")
    @classmethod
    def _without_password(cls, address: str) -> str:
        """Addresses are stored in the ledger and displayed, so they may contain no password."""
        parts = urlsplit(address)
        if address and parts.scheme not in ("http", "https"):
            raise ValueError("must begin with http:// or https://")
        if parts.username is not None or parts.password is not None:
            raise ValueError("must hold no user name or password; put the key into an environment variable")
        return address


class RoleSettings(Record):
    """The model of a role and its fallbacks."""

    model: ModelSettings
    """The role's model."""
    fallbacks: tuple[ModelSettings, ...] = ()
    """Models to ask in turn if the first cannot answer; every use is recorded."""


class LimitSettings(Record):
    """Rate limits of a model. Omitted limits are learned from the provider's response headers."""

    requests_per_minute: float | None = Field(default=None, gt=0)
    """Requests admitted per minute."""
    tokens_per_minute: float | None = Field(default=None, gt=0)
    """Input and output tokens admitted per minute."""
    concurrency: int = Field(default=32, ge=1)
    """Requests in flight at once."""


class RetrySettings(Record):
    """How failing calls are retried, and when a failing provider is paused."""

    attempts: int = Field(default=8, ge=1)
    """Maximum tries per call, across all kinds of failures."""
    first_wait_seconds: float = Field(default=0.5, ge=0)
    """Upper bound of the random wait before the second try; doubles with each try."""
    longest_wait_seconds: float = Field(default=30, ge=0)
    """Longest wait between tries, unless the provider asks for more."""
    failures_until_pause: int = Field(default=10, ge=1)
    """Consecutive failures, across all calls to a provider, after which it is paused."""
    pause_seconds: float = Field(default=5, gt=0)
    """First pause; doubles while the provider keeps failing, up to `longest_pause_seconds`."""
    longest_pause_seconds: float = Field(default=60, gt=0)
    """Longest pause."""
    longest_outage_seconds: float = Field(default=300, gt=0)
    """If a provider has done nothing but fail for this long, the run stops instead of waiting."""


class BatchSettings(Record):
    """Which calls go into batches, and how batches are submitted and polled."""

    roles: frozenset[ModelRole] = frozenset(
        {
            ModelRole.EVALUATION_WRITER,
            ModelRole.INTENT_EXTRACTOR,
            ModelRole.SUMMARIZER,
            ModelRole.DEPENDENCY_JUDGE,
            ModelRole.CRITIC,
        }
    )
    """Roles whose calls may be batched: they need no live screen."""
    largest: int = Field(default=1000, ge=1, le=50_000)
    """Maximum number of requests in a batch."""
    gather_seconds: float = Field(default=20, ge=0)
    """A batch is submitted when no further request has arrived for this long."""
    poll_seconds: float = Field(default=30, gt=0)
    """Time between two polls of a batch."""
    rounds: int = Field(default=3, ge=1)
    """Maximum number of batches for a request that expires or fails transiently."""


class CallSettings(Record):
    """All settings of model calls."""

    default: ModelSettings
    """The model of every role that has none of its own."""
    roles: dict[ModelRole, RoleSettings] = Field(default_factory=dict)
    """Models of individual roles."""
    limits: dict[str, LimitSettings] = Field(default_factory=dict)
    """Limits by `provider/model` or `provider`; the first match applies."""
    retries: RetrySettings = RetrySettings()
    """How failing calls are retried."""
    budget: str = ""
    """What one run may spend, such as `25usd` or `2Mtok`; no limit if empty."""
    replay: bool = False
    """Whether to answer only from the ledger."""
    batch: BatchSettings | None = None
    """Batch mode, if set."""

    def batched(self, role: ModelRole) -> bool:
        """Whether calls of `role` may wait for a batch."""
        return role in (self.batch or BatchSettings()).roles

    def role(self, role: ModelRole) -> RoleSettings:
        """The model of `role` and its fallbacks."""
        return self.roles.get(role) or RoleSettings(model=self.default)

    def limit(self, model: ModelSettings) -> LimitSettings:
        """How fast `model` may be called."""
        named = self.limits.get(f"{model.provider}/{model.model}") or self.limits.get(model.provider)
        return named or LimitSettings()
