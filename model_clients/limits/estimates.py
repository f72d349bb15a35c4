"""Estimates the tokens of a call beforehand, and learns from every reply."""

from __future__ import annotations

from dataclasses import dataclass, field

from taskloom.model_clients.ledger.request_keys import canonical_json
from taskloom.model_clients.messages import ImageContent, ModelReply, ModelRequest, TextContent
from taskloom.model_clients.settings import ModelSettings

_CHARACTERS_PER_TOKEN = 3.5
_TOKENS_PER_IMAGE = 1600
_TOKENS_PER_MESSAGE = 8
_UNSEEN_OUTPUT_TOKENS = 800
_UNLIMITED_OUTPUT_TOKENS = 8192
_LEARNING = 0.2
_CAUTION = 1.25


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Expected and highest token counts of a call."""

    input_tokens: int
    output_tokens: int
    highest_input_tokens: int
    """Input tokens that a call hardly ever exceeds."""
    highest_output_tokens: int
    """Output tokens that a call cannot exceed if the request sets a limit, and hardly ever exceeds
    otherwise."""

    @property
    def tokens(self) -> int:
        """Expected input and output."""
        return self.input_tokens + self.output_tokens


@dataclass(slots=True)
class _Learned:
    input_ratio: float = 1.0
    output_tokens: float = float(_UNSEEN_OUTPUT_TOKENS)
    largest_output: int = 0


@dataclass(slots=True)
class TokenEstimates:
    """Estimates by model and role, corrected by actual usage."""

    _learned: dict[tuple[str, str, str], _Learned] = field(default_factory=dict)

    def of(self, settings: ModelSettings, request: ModelRequest) -> TokenEstimate:
        """The estimate for `request`."""
        learned = self._learned.get(self._place(settings, request), _Learned())
        expected_input = int(_plain_input_tokens(request) * learned.input_ratio) + 1
        limit = settings.parameters.max_output_tokens
        highest = limit or max(_UNLIMITED_OUTPUT_TOKENS, 2 * learned.largest_output)
        return TokenEstimate(
            input_tokens=expected_input,
            output_tokens=min(int(learned.output_tokens), highest),
            highest_input_tokens=int(expected_input * _CAUTION) + 1,
            highest_output_tokens=highest,
        )

    def learn(self, settings: ModelSettings, request: ModelRequest, reply: ModelReply) -> None:
        """Correct the estimates with the usage of a reply."""
        if not reply.input_tokens:
            return
        learned = self._learned.setdefault(self._place(settings, request), _Learned())
        ratio = reply.input_tokens / _plain_input_tokens(request)
        learned.input_ratio += _LEARNING * (ratio - learned.input_ratio)
        learned.output_tokens += _LEARNING * (reply.output_tokens - learned.output_tokens)
        learned.largest_output = max(learned.largest_output, reply.output_tokens)

    @staticmethod
    def _place(settings: ModelSettings, request: ModelRequest) -> tuple[str, str, str]:
        return settings.provider, settings.model, request.role


def _plain_input_tokens(request: ModelRequest) -> int:
    tokens = 0.0
    for message in request.messages:
        tokens += _TOKENS_PER_MESSAGE
        for content in message.content:
            if isinstance(content, TextContent):
                tokens += len(content.text.encode("utf-8", errors="surrogatepass")) / _CHARACTERS_PER_TOKEN
            elif isinstance(content, ImageContent):
                tokens += _TOKENS_PER_IMAGE
    for turn in request.computer or ():
        tokens += len(turn.reply.said) / _CHARACTERS_PER_TOKEN + _TOKENS_PER_IMAGE * len(turn.results)
    if request.reply_schema is not None:
        tokens += len(canonical_json(request.reply_schema)) / _CHARACTERS_PER_TOKEN
    return max(1, int(tokens))
