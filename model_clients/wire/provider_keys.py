"""API keys of providers: read only from the environment, never shown."""

from __future__ import annotations

import os

from pydantic import SecretStr

from taskloom.model_clients.errors import KeyMissingError
from taskloom.model_clients.settings import ModelSettings

_NO_KEY = "no-key"


def read_key(settings: ModelSettings, usual_variable: str) -> SecretStr:
    """The key from the variable in the settings, or from the provider's usual one.

    A self-hosted server needs no key unless the settings name a variable for it.

    Raises:
        KeyMissingError: the variable is not set.
    """
    variable = settings.api_key_variable or usual_variable
    key = os.environ.get(variable, "").strip()
    if key:
        return SecretStr(key)
    if settings.base_url and not settings.api_key_variable:
        return SecretStr(_NO_KEY)
    raise KeyMissingError(
        f"no key for {settings.provider}: set the environment variable {variable}, or name another one in"
        " `api_key_variable`; the provider `offline` needs no key"
    )


def without_key(text: str, key: SecretStr) -> str:
    """The text with the key redacted, for servers that echo it in their responses."""
    secret = key.get_secret_value()
    return text.replace(secret, "[key]") if secret and secret != _NO_KEY else text
