"""The benchmarks compare like with like, and their runner shows what was measured."""

from __future__ import annotations

from hypothesis import given

from benchmarks.graph_composition import as_networkx
from benchmarks.networkx_baseline import networkx_measures, random_growth
from benchmarks.run import Figure, machine, names_of_benchmarks, table
from benchmarks.synthetic_pool import APPLICATIONS, RESOURCE_CATEGORIES, SUBTASKS, synthetic_pool
from taskloom.taskgraph.measures.complexity import shape_of
from tests.taskgraph.small_graphs import graphs


@given(graphs())
def test_the_baseline_measures_what_we_measure(predecessors: tuple[int, ...]) -> None:
    shape = shape_of(predecessors)
    edges, nodes, _, depth, width = networkx_measures(as_networkx(predecessors))
    assert (edges, nodes, depth, width) == (shape.edges, shape.nodes, shape.depth, shape.width)


def test_the_synthetic_pool_has_the_papers_size() -> None:
    nodes, intents, _ = synthetic_pool(intents=20)
    assert len({node.subtask_id for node in nodes}) == SUBTASKS == 255
    assert len({node.application for node in nodes}) == APPLICATIONS == 49
    used = {item.category for node in nodes for item in (*node.inputs, *node.outputs)}
    assert len(used) == RESOURCE_CATEGORIES == 40
    assert all(6 <= len(intent.subtask_ids) <= 16 for intent in intents)


def test_the_baseline_finds_distinct_tasks_within_its_quotas() -> None:
    nodes, intents, fixtures = synthetic_pool(intents=20)
    run = random_growth(
        nodes, intents, fixtures, count=40, per_cell=5, maximum_size=6, maximum_components=4, seconds=5.0
    )
    assert sum(run.per_cell.values()) == run.tasks > 0
    assert max(run.per_cell.values()) <= 5


def test_finds_the_benchmarks_of_the_folder() -> None:
    assert "graph_composition" in names_of_benchmarks()
    assert "run" not in names_of_benchmarks()


def test_shows_figures_with_goals_and_names_the_machine() -> None:
    shown = table([Figure("speed", 51.5, "times faster", "50 or more", True, "networkx", "in one run")])
    assert "| speed | 51.5 times faster | 50 or more | yes | networkx |" in shown
    assert "- speed: in one run" in shown
    assert {"processor", "cores", "python"} <= machine().keys()
