"""Graph mathematics and composition compared with networkx, in one run and one process, by processor time.

The pool is synthetic and of the paper's size. Both composers select closed sets with their cells; the records
that taskloom then builds (orders, coherency, capabilities, ids) are timed separately, because the baseline
does not build them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import networkx

from benchmarks.networkx_baseline import networkx_measures, random_growth
from benchmarks.run import Figure
from benchmarks.synthetic_pool import synthetic_pool
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.synthesis.composition.building import TaskBuilder
from taskloom.synthesis.composition.composition import Composer, compose
from taskloom.synthesis.composition.pool.compiled_pool import compile_pool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.measures.coherency import maximum_coherency
from taskloom.taskgraph.measures.complexity import shape_of
from taskloom.taskgraph.records.provenance import Provenance

PAPER = 36_076
BASELINE_SECONDS = 60.0
SIZE, COMPONENTS = 9, 4
CELLS_WANTED = 59


def figures(quick: bool = False) -> list[Figure]:
    return [*metrics(), *composition(quick), *records(quick)]


def metrics() -> list[Figure]:
    """The five dimensions at n = 10, and the maximum coherency score at n = 20."""
    generator = random.Random(0)
    graphs = [random_dag(10, generator) for _ in range(200)]
    ours = per_call(lambda: [shape_of(graph) for graph in graphs]) / len(graphs)

    def by_networkx() -> None:
        for graph in graphs:
            networkx_measures(as_networkx(graph))

    theirs = per_call(by_networkx) / len(graphs)
    large = [random_dag(20, generator) for _ in range(500)]
    applications = [[generator.choice("abcdef") for _ in range(20)] for _ in large]
    times = sorted(
        per_call(lambda graph=graph, names=names: maximum_coherency(graph, names))  # type: ignore[misc]
        for graph, names in zip(large, applications, strict=True)
    )
    median, slow, worst = (times[place] * 1e3 for place in (len(times) // 2, len(times) * 95 // 100, -1))
    return [
        Figure(
            "five dimensions, 10 subtasks",
            theirs / ours,
            "times faster",
            "20 or more",
            theirs / ours >= 20,
            f"networkx {networkx.__version__}",
            f"{ours * 1e6:.0f} µs against {theirs * 1e6:.0f} µs per graph",
        ),
        *(
            Figure(
                f"maximum coherency score, 20 subtasks, {which}",
                value,
                "ms",
                "under 1",
                value < 1,
                note=f"exact, for {len(large)} random graphs" if which == "median" else "",
            )
            for which, value in (("median", median), ("95th percentile", slow), ("slowest", worst))
        ),
    ]


def composition(quick: bool) -> list[Figure]:
    """The paper's number of tasks, evenly over the cells, compared with random growth with rejection."""
    count = 2_000 if quick else PAPER
    nodes, intents, fixtures = synthetic_pool()
    start = time.process_time()
    pool = compile_pool(nodes, fixtures)
    request = CompositionRequest(
        count=count,
        maximum_size=SIZE,
        maximum_components=COMPONENTS,
        near_duplicate_share=1,
        subtask_share=1,
        pattern_share=1,
        maximum_readers=SIZE,
        maximum_ends=SIZE,
    )
    builder = TaskBuilder(pool, (), None, seed=0, provenance=Provenance())
    composer = Composer(intents, request, builder)
    selected = {selection.members for selection in composer.selections()}
    ours = time.process_time() - start
    cells = len(composer.account.per_cell)
    baseline = random_growth(
        nodes,
        intents,
        fixtures,
        count=count,
        per_cell=count // cells + 1,
        maximum_size=SIZE,
        maximum_components=COMPONENTS,
        seconds=6.0 if quick else BASELINE_SECONDS,
    )
    ours_rate, their_rate = len(selected) / ours, baseline.tasks / baseline.seconds
    theirs = baseline.seconds + (count - baseline.tasks) / baseline.last_rate
    return [
        Figure(
            f"{count:,} distinct tasks",
            theirs / ours,
            "times faster",
            "50 or more",
            theirs / ours >= 50,
            "random growth with rejection on networkx",
            f"{len(selected):,} in {ours:.1f} s of processor time; the baseline had {baseline.tasks:,} after"
            f" {baseline.seconds:.0f} s ({ours_rate / their_rate:.0f} times fewer a second) and at the end"
            f" made {baseline.last_rate:.0f} a second, ever fewer: at that rate it would take {theirs:.0f} s"
            " at least",
        ),
        Figure(
            "cells reached",
            cells,
            "of 67",
            f"{CELLS_WANTED} or more, and not fewer than the baseline",
            cells >= CELLS_WANTED and cells >= len(baseline.per_cell),
            f"the baseline reached {len(baseline.per_cell)}",
        ),
    ]


def records(quick: bool) -> list[Figure]:
    count = 500 if quick else 2_000
    seconds, _, account = compose_records(count)
    return [
        Figure(
            "complete task records",
            account / seconds,
            "a second",
            note="orders counted and listed, maximum coherency, capabilities, ids, validated records",
        )
    ]


def compose_records(count: int) -> tuple[float, int, int]:
    """Processor seconds, distinct ids and number of complete task records."""
    nodes, intents, fixtures = synthetic_pool()
    start = time.process_time()
    request = CompositionRequest(
        count=count,
        maximum_size=SIZE,
        maximum_components=COMPONENTS,
        near_duplicate_share=1,
        subtask_share=1,
        pattern_share=1,
        maximum_readers=SIZE,
        maximum_ends=SIZE,
    )
    ids = [
        task.task_id
        for task in compose(nodes, intents, request, fixtures=fixtures, capabilities=load_capabilities())
    ]
    return time.process_time() - start, len(set(ids)), len(ids)


def random_dag(size: int, generator: random.Random) -> tuple[int, ...]:
    """A random graph in which each pair is an edge with probability 2 / size, as in composed tasks."""
    return tuple(
        sum(1 << producer for producer in range(node) if generator.random() < 2 / size)
        for node in range(size)
    )


def as_networkx(predecessors: tuple[int, ...]) -> networkx.DiGraph[int]:
    graph: networkx.DiGraph[int] = networkx.DiGraph()
    for node, mask in enumerate(predecessors):
        graph.add_node(node, category=node % 4)
        graph.add_edges_from((producer, node) for producer in bits(mask))
    return graph


def per_call(action: Callable[[], object], repeats: int = 5) -> float:
    """Minimum processor seconds of one call over some repeats."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best
