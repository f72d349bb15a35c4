"""Which instructions resemble each other: by the definition, text by text, whatever the index leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.text_folding import fold_text
from taskloom.warehouse.sets.compared import NEAR, Wordings, WordingsReader, find_similar
from taskloom.warehouse.sets.key_table import SPLITS, SplitName
from taskloom.warehouse.sets.splits import Leak, find_resembling, leakage
from tests.shared_work import examples
from tests.warehouse.samples import records
from tests.warehouse.test_splits import altered, compared


def wordings_of(texts: Sequence[str]) -> Wordings:
    """The wordings of texts, numbered in their order."""
    reader = WordingsReader()
    reader.add(pa.array(texts, pa.large_string()))
    return reader.wordings(np.arange(len(texts)))


def sequences(text: str) -> frozenset[tuple[str, ...]]:
    """The definition: five-word sequences after folding, the whole text where it is shorter."""
    words = fold_text(text).split()
    if not words:
        return frozenset()
    return frozenset(tuple(words[start : start + 5]) for start in range(max(len(words) - 4, 1)))


def likeness(one: str, other: str) -> float:
    first, second = sequences(one), sequences(other)
    return len(first & second) / len(first | second) if first and second else 0.0


PHRASES = st.lists(st.sampled_from(["a", "B", "c", "d e f g h", "i j k l m n"]), max_size=12).map(" ".join)


@settings(max_examples=examples(40, 200))
@given(st.lists(st.text("ab ", max_size=60) | PHRASES, max_size=40), st.integers(0, 40))
def test_a_text_resembles_one_exactly_where_half_of_the_wording_is_common(texts: list[str], cut: int) -> None:
    """Whatever the index leaves out: compared with every text, one by one, by the definition."""
    everything = np.arange(len(texts))
    probes, among = everything[:cut], everything[cut:]

    found = find_similar(wordings_of(texts), probes, among)

    for probe, other in zip(probes.tolist(), found.tolist(), strict=True):
        alike = [text for text in among.tolist() if likeness(texts[probe], texts[text]) >= NEAR]
        assert other in alike if other >= 0 else not alike


@settings(max_examples=examples(60, 200))
@given(
    st.lists(
        st.text(st.characters(codec="utf-8"), max_size=30)
        | st.text("aB `\t\n\x1c\x7f\u00a0\u2019", max_size=30)
    )
)
def test_texts_that_fold_alike_have_equal_wordings(texts: list[str]) -> None:
    """Plain texts are folded all at once, the others one by one: both as `fold_text` does."""
    found = wordings_of([*texts, *(fold_text(text) for text in texts)])

    hashes, sizes = found.texts.tolist(), found.sizes.tolist()
    assert hashes[: len(texts)] == hashes[len(texts) :]
    assert sizes == 2 * [len(sequences(text)) for text in texts]


def test_many_texts_that_are_worked_on_side_by_side_are_numbered_in_their_order() -> None:
    texts = [f"the report number {number // 2} is here" for number in range(120_000)]

    wordings = wordings_of(texts)

    assert len(set(wordings.texts.tolist())) == 60_000
    assert (wordings.texts[::2] == wordings.texts[1::2]).all()
    assert find_similar(wordings, np.arange(1, 120_000, 2), np.arange(0, 120_000, 2)).tolist() == list(
        range(0, 120_000, 2)
    )


def test_the_nearest_of_many_is_found_among_those_that_share_the_rarest_wording() -> None:
    stem = "open the report and copy the table of the third quarter into the chart of the yearly"
    texts = [f"{stem} summary {number} for desk {number * 7} please" for number in range(3_000)]

    found = find_similar(wordings_of([*texts, texts[1234].upper()]), np.array([3_000]), np.arange(3_000))

    assert found.tolist() == [1234]


@settings(max_examples=examples(15, 60))
@given(
    st.lists(st.tuples(st.sampled_from(SPLITS), PHRASES), min_size=1, max_size=30),
    st.lists(PHRASES, max_size=3),
)
def test_what_is_taken_out_of_sets_is_what_the_definition_says(
    drawn: list[tuple[SplitName, str]], lines: list[str]
) -> None:
    task = next(item for item in records() if isinstance(item, Task))
    node = task.graph.nodes[0]
    sets: dict[SplitName, list[Task]] = {name: [] for name in SPLITS}
    for number, (name, text) in enumerate(drawn):
        part = node.model_copy(update={"instruction": drawn[number - 1][1]})
        graph = task.graph.model_copy(update={"nodes": (part,), "edges": ()})
        fields = {"task_id": f"task-{number:02}", "instruction": text, "graph": graph}
        sets[name].append(task.model_copy(update=fields))

    places = [f"list:{number}" for number in range(1, len(lines) + 1)]
    found = find_resembling(*compared(sets, lines), places)

    assert {leak.value for leak in found} == taken_out(sets, lines)
    assert len({leak.value for leak in found}) == len(found)
    assert not find_resembling(*compared(without(sets, found), lines), places)


def test_likeness_is_looked_for_again_in_sets_that_were_not_compared() -> None:
    task = next(item for item in records() if isinstance(item, Task))
    twin, other = altered(task, "twin", instruction=task.instruction), altered(task, "other")
    tasks, members = compared({"train": [twin, other], "test": [task]})
    found = find_resembling(tasks, members)

    def leaks(train: str, test: str) -> bool:
        sets = tasks.numbered({"train": [train], "test": [test]})
        return bool(leakage(tasks, sets, (), ("template", "value", "intent"), (members, found)).leaks)

    assert [leak.value for leak in found] == ["twin"]
    assert not leaks("other", task.task_id)
    assert leaks("twin", task.task_id) and leaks(task.task_id, "twin")


def taken_out(sets: Mapping[SplitName, list[Task]], lines: Sequence[str]) -> set[str]:
    """By the definition, task by task: those like a line, then those of a larger set like one of a
    smaller."""
    gone = {
        task.task_id
        for members in sets.values()
        for task in members
        for text in (task.instruction, *(node.instruction for node in task.graph.nodes))
        if any(likeness(text, line) >= NEAR for line in lines)
    }
    by_size = sorted(sets, key=lambda name: len(sets[name]))
    for position, smaller in enumerate(by_size):
        for larger in by_size[position + 1 :]:
            kept = [task.instruction for task in sets[smaller] if task.task_id not in gone]
            gone |= {
                task.task_id
                for task in sets[larger]
                if any(likeness(task.instruction, text) >= NEAR for text in kept)
            }
    return gone


def without(sets: Mapping[SplitName, list[Task]], found: Sequence[Leak]) -> dict[SplitName, list[Task]]:
    gone = {leak.value for leak in found}
    return {name: [task for task in members if task.task_id not in gone] for name, members in sets.items()}
