"""Rate limits that a provider reports in the headers of a response."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Allowance:
    """One limit of a provider: the amount per minute and what remains, as far as reported."""

    per_minute: float | None = None
    remaining: float | None = None


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
    milliseconds = _number(lowered.get("retry-after-ms"))
    retry_after = _seconds(lowered.get("retry-after"), now or datetime.now(UTC))
    return RateReport(
        requests=_tightest(lowered, "x-ratelimit-{}-requests")
        or _tightest(lowered, "anthropic-ratelimit-requests-{}")
        or Allowance(),
        tokens=_tightest(lowered, "x-ratelimit-{}-tokens")
        or _tightest(
            lowered,
            "anthropic-ratelimit-tokens-{}",
            "anthropic-ratelimit-input-tokens-{}",
            "anthropic-ratelimit-output-tokens-{}",
        )
        or Allowance(),
        retry_after_seconds=retry_after if milliseconds is None else milliseconds / 1000,
    )


def _tightest(headers: Mapping[str, str], *names: str) -> Allowance | None:
    """The allowance with the least remaining, among those in headers of these names."""
    reported = [tuple(headers.get(name.format(field)) for field in ("limit", "remaining")) for name in names]
    allowances = [Allowance(*map(_number, texts)) for texts in reported if texts != (None, None)]
    return min(allowances, key=lambda item: (item.remaining is None, item.remaining), default=None)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None


def _seconds(text: str | None, now: datetime) -> float | None:
    """Seconds in `12`, `1m20s`, `35ms`, an RFC 3339 timestamp or an HTTP date."""
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
