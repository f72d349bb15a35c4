"""Comparison of many tasks in arrays: what no two sets may share, strata, and instructions. Two instructions
resemble each other if they are equal apart from case and spacing, or share half of their five-word
sequences."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from taskloom.resources.dimensions import TABLE
from taskloom.taskgraph.text_folding import fold_text
from taskloom.warehouse.sets.key_table import KeyTable, LeakKind, SplitName
from taskloom.warehouse.storage.database import registered

Rows = NDArray[np.int64]
"""Numbers of texts, or indexes into an array."""
_Hashes = NDArray[np.uint64]
NEAR: Final = 0.5
"""Share of common five-word sequences from which two instructions count as nearly the same; in the queries
below, three times the common ones are at least the sum of both."""
_PLAIN: Final = r"^[!-_a-~]+(?: [!-_a-~]+)*$"
"""Lower-case texts in which `fold_text` changes nothing: visible ASCII characters without a backtick, single
spaces."""
_PROBES_AT_ONCE: Final = 50_000
_FIRST_WIDTH: Final = 2
_WIDTH_FACTOR: Final = 8

_SEQUENCES_SQL: Final = """
CREATE TABLE texts AS
WITH cut AS (
    SELECT number, hash(folded) AS text,
        CASE WHEN folded = '' THEN []::VARCHAR[] ELSE string_split(folded, ' ') END AS words
    FROM given
), sequences AS (
    SELECT DISTINCT number, hash(words[spot : spot + 4]) AS sequence
    FROM (SELECT number, words, unnest(range(1, greatest(len(words) - 4, 1) + 1)) AS spot FROM cut
          WHERE len(words) > 0)
), counted AS (
    SELECT sequence, count(*) AS frequency FROM sequences GROUP BY sequence
), held AS (
    SELECT number, list(sequence ORDER BY frequency, sequence) AS sequences
    FROM sequences JOIN counted USING (sequence) GROUP BY number
)
SELECT number, text, coalesce(sequences, []) AS sequences, coalesce(len(sequences), 0) AS size
FROM cut LEFT JOIN held USING (number) ORDER BY number
"""
"""The texts with their distinct sequences, the rarest first."""
_POSTINGS_SQL: Final = """
CREATE OR REPLACE TEMP TABLE postings AS
SELECT *, row_number() OVER (PARTITION BY sequence ORDER BY number) AS turn FROM (
    SELECT number, size, unnest(sequences[: size // 2 + 1]) AS sequence,
        unnest(range(0, size // 2 + 1)) AS place
    FROM texts JOIN indexed USING (number) WHERE size > 0)
"""
"""Two texts that share half of their sequences have one of the first sequences of each in common."""
_PAIRS_SQL: Final = """
WITH probe AS (
    SELECT number, size, unnest(sequences[: size // 2 + 1]) AS sequence,
        unnest(range(0, size // 2 + 1)) AS place
    FROM texts JOIN probes USING (number) WHERE size > 0
), met AS (
    SELECT DISTINCT probe.number AS number, other.number AS other
    FROM probe JOIN postings AS other USING (sequence)
    WHERE other.turn > $first AND other.turn <= $last
        AND 3 * least(probe.size - probe.place, other.size - other.place) >= probe.size + other.size
), compared AS (
    SELECT number, other, one.size + two.size AS total,
        len(list_intersect(one.sequences, two.sequences)) AS common
    FROM met JOIN texts AS one USING (number) JOIN texts AS two ON two.number = other
)
SELECT number, arg_min(other, (total / common, other)) AS other
FROM compared WHERE 3 * common >= total GROUP BY number
"""


@dataclass(frozen=True, slots=True)
class Wordings:
    """The five-word sequences of many texts, by number; a shorter text is one sequence, an empty one has
    none."""

    texts: _Hashes
    """A hash of each whole text after folding."""
    sizes: Rows
    database: duckdb.DuckDBPyConnection
    """Its table `texts` holds the sequences of each text."""


class WordingsReader:
    """Collects texts."""

    def __init__(self) -> None:
        self._folded: list[pa.ChunkedArray] = []

    def add(self, texts: pa.Array) -> None:
        """Add texts, which are numbered in order; NULL counts as empty."""
        self._folded.append(_fold(texts))

    def wordings(self, order: Rows) -> Wordings:
        """The texts that were added; those in `order` come first, in that order."""
        folded = pa.chunked_array(self._folded, pa.large_string())
        numbers = np.arange(len(folded))
        numbers[order] = np.arange(len(order))
        database = duckdb.connect()
        with registered(database, given=pa.table({"number": numbers, "folded": folded})):
            database.execute(_SEQUENCES_SQL)
        rows = database.sql("SELECT text, size FROM texts ORDER BY number").fetchnumpy()
        return Wordings(np.asarray(rows["text"], np.uint64), np.asarray(rows["size"], np.int64), database)


def _fold(texts: pa.Array) -> pa.ChunkedArray:
    """The texts as `fold_text` folds them. Most are plain and only need lower-casing, all at once."""
    column = pc.fill_null(texts.cast(pa.large_string()), "")
    lower = pc.ascii_lower(column)
    other = pc.invert(pc.match_substring_regex(lower, _PLAIN))
    if pc.any(other).as_py():
        folded = [fold_text(text) for text in column.filter(other).to_pylist()]
        lower = pc.replace_with_mask(lower, other, pa.array(folded, pa.large_string()))
    return pa.chunked_array([lower])


def find_similar(wordings: Wordings, probes: Rows, among: Rows) -> Rows:
    """For each of `probes` a text of `among` that it resembles, or -1 if there is none.

    Whether one exists is exact; of several, the nearest of those found first is returned. Two texts that
    share half of their sequences share some of their rarest ones: only those are looked up, first in a few
    texts for each.
    """
    _, chosen, group = np.unique(wordings.texts[probes], return_index=True, return_inverse=True)
    _, first_of_text = np.unique(wordings.texts[among], return_index=True)
    database = wordings.database.cursor()
    with registered(database, indexed=pa.table({"number": among[np.sort(first_of_text)]})):
        database.execute(_POSTINGS_SQL)
    last_turn = database.sql("SELECT coalesce(max(turn), 0) FROM postings").fetchone()
    nearest = np.full(len(wordings.texts), -1, np.int64)
    for start in range(0, len(chosen), _PROBES_AT_ONCE):
        remaining, searched, width = probes[chosen[start : start + _PROBES_AT_ONCE]], 0, _FIRST_WIDTH
        while len(remaining) and last_turn and searched < last_turn[0]:
            limits = {"first": searched, "last": searched + width}
            with registered(database, probes=pa.table({"number": remaining})):
                pairs = database.execute(_PAIRS_SQL, limits).fetchnumpy()
            nearest[np.asarray(pairs["number"], np.int64)] = pairs["other"]
            remaining = remaining[nearest[remaining] < 0]
            searched, width = searched + width, width * _WIDTH_FACTOR
    return nearest[probes[chosen]][group] if len(probes) else nearest[:0]


_KIND_OF: Final[dict[str, LeakKind]] = {
    "templates": "template",
    "resource_values": "value",
    "intent_id": "intent",
    "intent": "intent",
}
"""The kind of the keys in each column. Instructions are keys too, but only those that several tasks have."""
_STRATA: Final = {
    **{row.level_column: str(row.name) for row in TABLE},
    "applications": "application",
    "scenario": "scenario",
}
COLUMNS: Final[dict[str, str]] = {
    "task_id": "task_id",
    "instruction": "instruction",
    "intent_id": "intent_id",
    "intent": "intent",
    "templates": "[node.subtask_id FOR node IN nodes]",
    "resource_values": (
        "flatten([[item.value FOR item IN list_concat(node.inputs, node.outputs)] FOR node IN nodes])"
    ),
    "parts": "[node.instruction FOR node IN nodes]",
    **{column: column for column in _STRATA},
}
"""Columns that may be read of a task, with their SQL."""


def columns_for(may_share: Collection[LeakKind], with_parts: bool) -> list[str]:
    """The columns of `COLUMNS` that a comparison needs."""
    unused = {column for column, kind in _KIND_OF.items() if kind in may_share}
    return [column for column in COLUMNS if column not in unused and (column != "parts" or with_parts)]


@dataclass(frozen=True, slots=True)
class ComparedTasks:
    """Tasks, sorted by id and numbered in that order."""

    table: KeyTable
    """What no two sets may share; each key is prefixed with its kind."""
    strata: KeyTable
    """Labels of each task, such as its levels."""
    wordings: Wordings
    """The instructions, numbered as the tasks are, then those of subtasks and of lists."""
    parts: KeyTable
    """The instructions of each task's subtasks; empty unless lists are compared."""

    def numbers_of(self, sets: Mapping[SplitName, Sequence[str]]) -> dict[SplitName, Rows]:
        """The numbers of the tasks of each set."""
        place = {name: number for number, name in enumerate(self.table.tasks)}
        return {split: np.array([place[name] for name in names], np.int64) for split, names in sets.items()}

    def count_intents(self, chosen: Rows) -> int:
        """Number of distinct intents of some tasks; an intent is an id, a text, or both."""
        holders, held = self.table.holders(), self.table.numbers()
        is_intent = np.array([key.startswith("intent ") for key in self.table.keys], bool)
        is_chosen = np.zeros(len(self.table.tasks), bool)
        is_chosen[chosen] = True
        counted = is_chosen[holders] & is_intent[held]
        holders, held = holders[counted], held[counted]
        if not len(held):
            return 0
        # A task has at most two, which are sorted.
        starts = np.flatnonzero(np.concatenate((np.ones(1, bool), holders[1:] != holders[:-1])))
        pairs = np.minimum.reduceat(held, starts) * len(is_intent) + np.maximum.reduceat(held, starts)
        return len(np.unique(pairs))

    @property
    def first_line(self) -> int:
        """The number of the first line of a list among the wordings."""
        return len(self.table.tasks) + len(self.parts.keys)


@dataclass(slots=True)
class _Pairs:
    """Pairs of a task and a value that it has, by number, in the order in which they are read."""

    names: dict[str, int] = field(default_factory=dict)
    holders: list[Rows] = field(default_factory=list)
    held: list[Rows] = field(default_factory=list)

    def add(self, column: pa.Array, first: int, name_of: Callable[[str], str]) -> None:
        """Add texts, or lists of texts, of tasks numbered from `first`; empty ones are skipped."""
        rows = np.arange(first, first + len(column))
        if pa.types.is_list(column.type):
            lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
            rows, column = np.repeat(rows, lengths), column.flatten()
        present = pc.fill_null(pc.not_equal(column, ""), False)
        encoded = column.filter(present).dictionary_encode()
        names = self.names
        numbers = np.array(
            [
                names.setdefault(name, len(names)) if name else -1
                for name in map(name_of, encoded.dictionary.to_pylist())
            ],
            np.int64,
        )
        held = numbers[encoded.indices.to_numpy(zero_copy_only=False)]
        self.holders.append(rows[present.to_numpy(zero_copy_only=False)][held >= 0])
        self.held.append(held[held >= 0])

    def table(self, tasks: list[str], place: Rows) -> KeyTable:
        """The pairs, for tasks in another order: `place` holds the new number of each."""
        holders, held = _concatenate(self.holders), _concatenate(self.held)
        by_name = sorted(self.names)
        rank = np.empty(len(by_name), np.int64)
        rank[[self.names[name] for name in by_name]] = np.arange(len(by_name))
        return KeyTable.of_pairs(tasks, by_name, place[holders], rank[held])


def compare(
    batches: Iterable[pa.RecordBatch],
    instruction_of: Callable[[list[str]], Mapping[str, str]],
    may_share: Collection[LeakKind] = (),
    lines: Sequence[str] = (),
) -> ComparedTasks:
    """The comparison of the tasks in `batches`, each of which has columns of `COLUMNS`.

    `instruction_of` returns the instructions of some tasks again by id; kinds that sets `may_share` are
    left out; `lines` are instructions of lists.
    """
    keys, strata, parts = _Pairs(), _Pairs(), _Pairs()
    reader = WordingsReader()
    names: list[str] = []
    for batch in batches:
        first = len(names)
        names += batch.column("task_id").to_pylist()
        reader.add(batch.column("instruction"))
        for column in batch.schema.names:
            values = batch.column(column)
            if column in _KIND_OF and _KIND_OF[column] not in may_share:
                kind, folded = _KIND_OF[column], fold_text if column == "intent" else str
                keys.add(values, first, lambda text, kind=kind, fold=folded: _key(kind, fold(text)))  # type: ignore[misc]
            elif column in _STRATA:
                strata.add(values, first, lambda text, label=_STRATA[column]: f"{label}={text}")  # type: ignore[misc]
            elif column == "parts":
                parts.add(values, first, str)
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    tasks = [names[number] for number in order]
    held_parts = parts.table(tasks, place)
    reader.add(pa.array(held_parts.keys, pa.large_string()))
    reader.add(pa.array(lines, pa.large_string()))
    wordings = reader.wordings(order)
    if "instruction" not in may_share:
        _add_equal_instructions(keys, wordings, order, tasks, instruction_of)
    return ComparedTasks(keys.table(tasks, place), strata.table(tasks, place), wordings, held_parts)


def _key(kind: LeakKind, text: str) -> str:
    return f"{kind} {text}" if text else ""


def _add_equal_instructions(
    keys: _Pairs,
    wordings: Wordings,
    order: Rows,
    tasks: list[str],
    instruction_of: Callable[[list[str]], Mapping[str, str]],
) -> None:
    """Add a key for each instruction that several tasks have, ignoring case and spacing."""
    texts = wordings.texts[: len(tasks)]
    present = np.flatnonzero(wordings.sizes[: len(tasks)])
    _, first_of_group, group, count = np.unique(
        texts[present], return_index=True, return_inverse=True, return_counts=True
    )
    repeated = np.flatnonzero(count[group] > 1)
    representatives = present[first_of_group[group[repeated]]].tolist()
    numbers = sorted(set(representatives))
    wording = instruction_of([tasks[number] for number in numbers])
    number_of = {
        number: keys.names.setdefault(f"instruction {fold_text(wording[tasks[number]])}", len(keys.names))
        for number in numbers
    }
    keys.holders.append(order[present[repeated]])
    keys.held.append(np.array([number_of[number] for number in representatives], np.int64))


def _concatenate(parts: list[Rows]) -> Rows:
    return np.concatenate([np.zeros(0, np.int64), *parts])
