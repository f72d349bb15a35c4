"""Files of evaluation functions outside of datasets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from taskloom.taskgraph.records.evaluation_function import EvaluationFunction


def read_functions(file: Path) -> dict[str, list[EvaluationFunction]]:
    """Functions by subtask, from a file written by `write_functions`."""
    entries = [EvaluationFunction.model_validate(item) for item in json.loads(file.read_text())]
    return {item.subtask_id: [item] for item in entries}


def write_functions(file: Path, functions: Iterable[EvaluationFunction]) -> None:
    """Write functions for `read_functions`; those of other subtasks in the file remain."""
    known: Mapping[str, list[EvaluationFunction]] = read_functions(file) if file.exists() else {}
    merged = {**known, **{item.subtask_id: [item] for item in functions}}
    content = [item.model_dump(mode="json") for name in sorted(merged) for item in merged[name]]
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False))
