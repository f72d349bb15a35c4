"""What a provider says about its limits in the headers of a response."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Allowance:
    """One limit of a provider: how much per minute, and how much is left."""

    per_minute: float | None = None
    """Limit per minute, if reported."""
    remaining: float | None = None
    """What is left of it now."""


@dataclass(frozen=True, slots=True)
class RateReport:
    """The limits reported in a response."""

    requests: Allowance = Allowance()
    tokens: Allowance = Allowance()
    """Tokens; the tightest of the input, output and total limits if a provider reports them separately."""
    retry_after_seconds: float | None = None
    """How long the provider asks to wait before the next try."""


def read_rate_report(headers: Mapping[str, str], now: datetime | None = None) -> RateReport:
    """The limits in `headers`, under OpenAI's or Anthropic's names.

    Headers that do not parse are ignored: a malformed header must not fail a paid call.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    moment = now or datetime.now(UTC)
    return RateReport(
        requests=_allowance(lowered, _name_openai, "requests")
        or _allowance(lowered, _name_anthropic, "requests")
        or Allowance(),
        tokens=_allowance(lowered, _name_openai, "tokens")
        or _tightest(
            [
                _allowance(lowered, _name_anthropic, kind)
                for kind in ("tokens", "input-tokens", "output-tokens")
            ]
        ),
        retry_after_seconds=_retry_after(lowered, moment),
    )


def _name_openai(kind: str, field: str) -> str:
    return f"x-ratelimit-{field}-{kind}"


def _name_anthropic(kind: str, field: str) -> str:
    return f"anthropic-ratelimit-{kind}-{field}"


def _allowance(headers: Mapping[str, str], name: Callable[[str, str], str], kind: str) -> Allowance | None:
    limit, remaining = (headers.get(name(kind, field)) for field in ("limit", "remaining"))
    if limit is None and remaining is None:
        return None
    return Allowance(_number(limit), _number(remaining))


def _tightest(allowances: list[Allowance | None]) -> Allowance:
    found = [allowance for allowance in allowances if allowance is not None]
    return min(
        found, key=lambda allowance: (allowance.remaining is None, allowance.remaining), default=Allowance()
    )


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    return _seconds(headers.get("retry-after"), now)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None


def _seconds(text: str | None, now: datetime) -> float | None:
    """Seconds in `12`, `1m20s`, `35ms`, an RFC 3339 moment or an HTTP date."""
    if text is None:
        return None
    number = _number(text)
    if number is not None:
        return number
    parts = _DURATION_PART.findall(text)
    if parts and "".join(value + unit for value, unit in parts) == text.strip():
        return sum(float(value) * _UNIT_SECONDS[unit] for value, unit in parts)
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text.strip())
        except ValueError:
            continue
        return max(0.0, (moment - now).total_seconds()) if moment.tzinfo else None
    return None
