"""What a call costs, from the price table or the settings."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from model_clients.ledger.budget import Amount
from model_clients.messages import TokenUsage
from model_clients.settings import ModelPrices, ModelSettings

_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_TABLE = TypeAdapter(dict[str, dict[str, ModelPrices]])


@cache
def price_table() -> dict[str, dict[str, ModelPrices]]:
    """The shipped prices by provider and model name; `*` is every model of a provider."""
    text = resources.files("model_clients.ledger").joinpath("prices.yaml").read_text(encoding="utf-8")
    return _TABLE.validate_python(YAML(typ="safe").load(text))


def prices_of(settings: ModelSettings) -> ModelPrices | None:
    """The prices of a model: the settings' own, else the table's, where a dated snapshot is its model, else None.

    A server that is not the provider's own has the prices of its settings only, for anyone may serve a model.
    """
    if settings.prices is not None:
        return settings.prices
    if settings.base_url:
        return None
    table = price_table().get(settings.provider, {})
    return table.get(settings.model) or table.get(_DATE.sub("", settings.model)) or table.get("*")


def cost_of(prices: ModelPrices, usage: TokenUsage, *, batched: bool = False) -> float:
    """The price of `usage` in US dollars."""
    cached = prices.input if prices.cached_input is None else prices.cached_input
    written = prices.input if prices.cache_write is None else prices.cache_write
    plain_tokens = max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens)
    millionths = (
        plain_tokens * prices.input
        + usage.cached_input_tokens * cached
        + usage.cache_write_tokens * written
        + usage.output_tokens * prices.output
    )
    return millionths / 1e6 * (prices.batch_factor if batched else 1.0)


def highest_amount(
    prices: ModelPrices | None, input_tokens: int, output_tokens: int, *, batched: bool
) -> Amount:
    """What a call of so many tokens can cost at most: all input written to the cache, none read from it."""
    tokens = input_tokens + output_tokens
    if prices is None:
        return Amount(0.0, tokens)
    dearest = max(prices.input, prices.cache_write or 0.0)
    usd = (input_tokens * dearest + output_tokens * prices.output) / 1e6
    return Amount(usd * (prices.batch_factor if batched else 1.0), tokens)
