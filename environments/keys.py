"""Key presses of an action, with the error that environments raise."""

from __future__ import annotations

from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.errors import KeysInvalidError
from taskloom.taskgraph.records.keys import KeyPress, read_keys


def parse_keys(keys: str) -> tuple[KeyPress, ...]:
    """The presses that `keys` stands for, in order (`taskloom.taskgraph.records.keys`).

    Raises:
        ActionInvalidError: they break the syntax; the message says where and how to write it.
    """
    try:
        return read_keys(keys)
    except KeysInvalidError as error:
        raise ActionInvalidError(str(error)) from None
