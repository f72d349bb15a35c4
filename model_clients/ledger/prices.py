"""What a call costs, according to the settings, our table or the library `genai-prices`."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from taskloom.model_clients.ledger.budget import Amount
from taskloom.model_clients.settings import ModelPrices, ModelSettings
from taskloom.taskgraph.records.model_calls import CallFigures

if TYPE_CHECKING:
    from genai_prices.types import TieredPrices

_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@cache
def price_table() -> dict[str, dict[str, ModelPrices]]:
    """Our prices, which override those of `genai-prices`, by provider and model name."""
    text = (files("taskloom.model_clients.ledger") / "prices.yaml").read_text(encoding="utf-8")
    table = TypeAdapter(dict[str, dict[str, ModelPrices]])
    return table.validate_python(YAML(typ="safe").load(text))


def prices_of(settings: ModelSettings) -> ModelPrices | None:
    """The prices of a model from the settings, else from our table, else from `genai-prices`, else None.

    A dated snapshot has the prices of its model. A server other than the provider's own has only the prices
    in its settings, because anyone may serve a model. Prices are those for requests of ordinary length.
    """
    if settings.prices is not None:
        return settings.prices
    if settings.base_url:
        return None
    table = price_table().get(settings.provider, {})
    undated = _DATE.sub("", settings.model)
    return (
        table.get(settings.model)
        or table.get(undated)
        or _published(settings.provider, settings.model)
        or _published(settings.provider, undated)
    )


@cache
def _published(provider: str, model: str) -> ModelPrices | None:
    """Prices from the data that ships with `genai-prices`; nothing is fetched."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    prices = found.get_prices(datetime.now(UTC))
    read, written = _dollars(prices.input_mtok), _dollars(prices.output_mtok)
    if read is None or written is None:
        return None
    return ModelPrices(
        input=read,
        output=written,
        cached_input=_dollars(prices.cache_read_mtok),
        cache_write=_dollars(prices.cache_write_mtok),
    )


def _dollars(price: "Decimal | TieredPrices | None") -> float | None:
    """Dollars per million tokens; of prices that rise with the length of the request, the lowest."""
    return None if price is None else float(price if isinstance(price, Decimal) else price.base)


def cost_of(prices: ModelPrices, call: CallFigures) -> float:
    """The price of a call's tokens in US dollars."""
    cached = prices.input if prices.cached_input is None else prices.cached_input
    written = prices.input if prices.cache_write is None else prices.cache_write
    plain_tokens = max(0, call.input_tokens - call.cached_input_tokens - call.cache_write_tokens)
    millionths = (
        plain_tokens * prices.input
        + call.cached_input_tokens * cached
        + call.cache_write_tokens * written
        + call.output_tokens * prices.output
    )
    return millionths / 1e6 * (prices.batch_factor if call.batched else 1.0)


def highest_amount(prices: ModelPrices | None, input_tokens: int, output_tokens: int) -> Amount:
    """The highest price of a call with these tokens, in no batch and with all input written to the cache."""
    tokens = input_tokens + output_tokens
    if prices is None:
        return Amount(0.0, tokens)
    dearest = max(prices.input, prices.cache_write or 0.0)
    return Amount((input_tokens * dearest + output_tokens * prices.output) / 1e6, tokens)
