"""Noise: what an application changes on its own, as measured places in the state."""

from typing import Literal

from taskloom.resources.record import Record

Area = Literal["file", "directory", "clipboard", "window", "screen"]
"""Part of the state that an effect is in. `window` is the window in front: application, title, address."""
EffectKind = Literal["added", "removed", "changed"]
"""What happened at an address."""


class NoisePlace(Record):
    """A place that changes without any work there.

    `*` stands for any text inside one part of a path, and for any one segment of an address: a table that
    gains rows by itself is `('visits', 'rows', '*')` with `added`; a field that is written at every start is
    `('settings', 'last_start')` with `changed`; a file that is rewritten has no address.
    """

    area: Area = "file"
    """Part of the state."""
    container: str = ""
    """Path of the file or directory; empty for clipboard and window."""
    address: tuple[str, ...] = ()
    """Where in the container, from the outside in; empty for the container itself."""
    kind: EffectKind
    """What happens there; it includes everything inside something added or removed."""
