"""Long texts that are kept in part: the beginning, and the hash of the whole, so that a change behind the cut
still shows."""

from __future__ import annotations

import hashlib
import re

_CUT = re.compile(r"… sha256:([0-9a-f]{16})\Z")
_MARK_LENGTH = len("… sha256:") + 16


def cut_text(text: str, limit: int) -> str:
    """`text`, or its first `limit` characters with the hash of the whole behind them.

    >>> cut_text("abc", 3), cut_text("abcd", 3)
    ('abc', 'abc… sha256:88d4266fd4e6338d')
    """
    return text if len(text) <= limit else f"{text[:limit]}… sha256:{_digest(text)}"


def is_cut_of(cut: str, whole: str) -> bool:
    """Whether `cut` is what `cut_text` made of `whole`.

    >>> is_cut_of(cut_text("abcd", 3), "abcd"), is_cut_of(cut_text("abcd", 3), "abce")
    (True, False)
    """
    found = _CUT.search(cut[-_MARK_LENGTH:])
    return found is not None and found.group(1) == _digest(whole)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
