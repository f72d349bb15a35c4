"""Capabilities of Table 12 as constraints on levels."""

from __future__ import annotations

from taskloom.resources.dimensions import Cell
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.taskgraph.measures.cells import possible_cells
from taskloom.taskgraph.measures.complexity import capabilities_met, constraint_of

ALL = load_capabilities()


def test_each_of_the_ten_is_met_by_some_cell_that_exists() -> None:
    assert len(ALL) == 10
    for preset in ("as_printed", "repaired"):
        for capability in ALL:
            assert any(constraint_of(capability, preset).allows(cell) for cell in possible_cells())


def test_presets_differ_in_two_rows() -> None:
    wide: Cell = ("easy", "hard", "easy", "easy", "hard")
    assert "long_instruction_following" in capabilities_met(wide, ALL, "as_printed")
    assert "domain_specific_knowledge" in capabilities_met(wide, ALL, "repaired")
    assert "domain_specific_knowledge" not in capabilities_met(wide, ALL, "as_printed")
    different = [c.name for c in ALL if constraint_of(c, "as_printed") != constraint_of(c, "repaired")]
    assert different == ["long_instruction_following", "domain_specific_knowledge"]


def test_printed_cross_domain_and_domain_specific_knowledge_are_one_and_the_same() -> None:
    for cell in possible_cells():
        met = capabilities_met(cell, ALL, "as_printed")
        assert ("cross_domain_knowledge" in met) == ("domain_specific_knowledge" in met)
