"""Which of the ten capabilities a task tests (section 4.2, Table 12)."""

from __future__ import annotations

from collections.abc import Iterable

from taskloom.resources.capability_presets import Capability, CapabilityPreset
from taskloom.resources.dimensions import Cell
from taskloom.taskgraph.measures.per_dimension import LevelConstraint


def constraint_of(capability: Capability, preset: CapabilityPreset = "repaired") -> LevelConstraint:
    """The levels that a test task of `capability` must have.

    >>> long = Capability(name="long", title="Long", as_printed={"branch": "hard"}, repaired={"instruction": "hard"})
    >>> constraint_of(long).instruction, constraint_of(long, "as_printed").branch
    (('hard',), ('hard',))
    """  # noqa: E501
    return LevelConstraint.model_validate(
        {dimension: (level,) for dimension, level in capability.levels(preset).items()}
    )


def capabilities_met(
    cell: Cell, capabilities: Iterable[Capability], preset: CapabilityPreset = "repaired"
) -> tuple[str, ...]:
    """Names of the `capabilities` that a task of `cell` tests, in their order.

    >>> long = Capability(name="long", title="Long", as_printed={"branch": "hard"}, repaired={"instruction": "hard"})
    >>> cell = ("hard", "hard", "easy", "hard", "easy")
    >>> capabilities_met(cell, [long]), capabilities_met(cell, [long], "as_printed")
    (('long',), ())
    """  # noqa: E501
    return tuple(
        capability.name for capability in capabilities if constraint_of(capability, preset).allows(cell)
    )
