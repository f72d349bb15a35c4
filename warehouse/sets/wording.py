"""Finds instructions that resemble each other: equal apart from case and spacing, or sharing half of their
five-word sequences."""

from dataclasses import dataclass
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from taskloom.taskgraph.text_folding import fold_text
from taskloom.warehouse.storage.database import shown

Rows = NDArray[np.int64]
"""Numbers of texts, or of places in an array."""
_Hashes = NDArray[np.uint64]
NEAR: Final = 0.5
"""Share of common five-word sequences from which two instructions count as nearly the same; the queries below
say it as: three times what is common is at least the sum of both."""
_PLAIN: Final = r"^[!-_a-~]+(?: [!-_a-~]+)*$"
"""Lower-case texts in which `fold_text` changes nothing: visible ASCII characters without a backtick, single
spaces."""
_PROBES_AT_ONCE: Final = 50_000
_FIRST_LOOK: Final = 2
_WIDENED: Final = 8

_CUT: Final = """
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
"""The texts with their sequences, each once in a text, those first that few texts have."""
_INDEX: Final = """
CREATE OR REPLACE TEMP TABLE postings AS
SELECT *, row_number() OVER (PARTITION BY sequence ORDER BY number) AS turn FROM (
    SELECT number, size, unnest(sequences[: size // 2 + 1]) AS sequence,
        unnest(range(0, size // 2 + 1)) AS place
    FROM texts JOIN indexed USING (number) WHERE size > 0)
"""
"""Of two texts of which half is common, one of the first sequences of each is common."""
_LOOK: Final = """
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
    """Has the sequences of each text in the table `texts`."""


class WordingsReader:
    """Collects texts."""

    def __init__(self) -> None:
        self._folded: list[pa.ChunkedArray] = []

    def add(self, texts: pa.Array) -> None:
        """Add texts; they are numbered in the order in which they come. One that is absent is empty."""
        self._folded.append(_folded(texts))

    def wordings(self, order: Rows) -> Wordings:
        """What was added; those that the order names come first, in that order."""
        folded = pa.chunked_array(self._folded, pa.large_string())
        numbers = np.arange(len(folded))
        numbers[order] = np.arange(len(order))
        database = duckdb.connect()
        with shown(database, given=pa.table({"number": numbers, "folded": folded})):
            database.execute(_CUT)
        found = database.sql("SELECT text, size FROM texts ORDER BY number").fetchnumpy()
        return Wordings(np.asarray(found["text"], np.uint64), np.asarray(found["size"], np.int64), database)


def _folded(texts: pa.Array) -> pa.ChunkedArray:
    """The texts as `fold_text` folds them. Most are plain, and only their case is folded, all at once."""
    column = pc.fill_null(texts.cast(pa.large_string()), "")
    lower = pc.ascii_lower(column)
    other = pc.invert(pc.match_substring_regex(lower, _PLAIN))
    if pc.any(other).as_py():
        folded = [fold_text(text) for text in column.filter(other).to_pylist()]
        lower = pc.replace_with_mask(lower, other, pa.array(folded, pa.large_string()))
    return pa.chunked_array([lower])


def resembled(wordings: Wordings, probes: Rows, among: Rows) -> Rows:
    """For each of `probes` a text of `among` that it resembles, or -1 where there is none.

    Whether there is one is exact; of several, the nearest of those met first is given. Two texts of which
    half is common share some of their rarest sequences: only those are looked up, for a few texts with
    each first.
    """
    _, chosen, same = np.unique(wordings.texts[probes], return_index=True, return_inverse=True)
    _, first = np.unique(wordings.texts[among], return_index=True)
    database = wordings.database.cursor()
    with shown(database, indexed=pa.table({"number": among[np.sort(first)]})):
        database.execute(_INDEX)
    most = database.sql("SELECT coalesce(max(turn), 0) FROM postings").fetchone()
    found = np.full(len(wordings.texts), -1, np.int64)
    for start in range(0, len(chosen), _PROBES_AT_ONCE):
        left, seen, width = probes[chosen[start : start + _PROBES_AT_ONCE]], 0, _FIRST_LOOK
        while len(left) and most and seen < most[0]:
            limits = {"first": seen, "last": seen + width}
            with shown(database, probes=pa.table({"number": left})):
                pairs = database.execute(_LOOK, limits).fetchnumpy()
            found[np.asarray(pairs["number"], np.int64)] = pairs["other"]
            left, seen, width = left[found[left] < 0], seen + width, width * _WIDENED
    return found[probes[chosen]][same] if len(probes) else found[:0]
