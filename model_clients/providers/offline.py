"""Provider `offline`: no key, no network, no model; replies by rule (see `model_clients.offline`)."""

from __future__ import annotations

from functools import lru_cache

from pydantic import JsonValue, ValidationError

from model_clients.client import ModelClient
from model_clients.errors import RequestRejectedError
from model_clients.messages import ModelRequest
from model_clients.offline.client import OfflineClient, OfflineOptions
from model_clients.settings import ModelSettings


def create(settings: ModelSettings) -> ModelClient:
    """The offline client; `options` are `mistakes` (a rate), `catalogue` (a folder) and `applications`.

    Raises:
        RequestRejectedError: an option is unknown or out of range.
        CatalogError: the catalogue holds mistakes.
    """
    return _client(settings.model_dump_json(include={"model", "options", "parameters"}), settings.model)


def determinants(settings: ModelSettings, request: ModelRequest) -> JsonValue:
    """What else determines the reply: the rules, the worked examples, and the typed inputs that are read."""
    client = _client(settings.model_dump_json(include={"model", "options", "parameters"}), settings.model)
    return {"rules": _determinant(client), "inputs": request.inputs}


@lru_cache(maxsize=8)
def _client(content: str, model: str) -> OfflineClient:
    settings = ModelSettings.model_validate_json(content)
    try:
        options = OfflineOptions.model_validate(settings.options)
    except ValidationError as error:
        raise RequestRejectedError(f"options of the offline provider: {error}") from error
    return OfflineClient.of(options, seed=settings.parameters.seed or 0, model=model)


@lru_cache(maxsize=8)
def _determinant(client: OfflineClient) -> str:
    return client.determinant()
