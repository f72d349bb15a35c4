"""Key presses of an action, with the error that environments raise."""

from __future__ import annotations

from environments.errors import ActionInvalid
from taskgraph.errors import KeysInvalid
from taskgraph.records.keys import KeyPress, read_keys


def parse_keys(keys: str) -> tuple[KeyPress, ...]:
    """The presses that `keys` stands for, in order (`taskgraph.records.keys`).

    Raises:
        ActionInvalid: they break the syntax; the message says where and how to write it.
    """
    try:
        return read_keys(keys)
    except KeysInvalid as error:
        raise ActionInvalid(str(error)) from None
