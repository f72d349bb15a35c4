"""Files of evaluation functions that belong to no dataset."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from taskloom.taskgraph.records.evaluation_function import EvaluationFunction


def read_functions(file: Path) -> dict[str, list[EvaluationFunction]]:
    """Functions by subtask from a file that this program wrote."""
    entries = [EvaluationFunction.model_validate(item) for item in json.loads(file.read_text())]
    return {item.subtask_id: [item] for item in entries}


def keep_functions(file: Path, functions: Iterable[EvaluationFunction]) -> None:
    """Write functions for `read_functions`; those that the file holds of other subtasks stay."""
    known: Mapping[str, list[EvaluationFunction]] = read_functions(file) if file.exists() else {}
    held = {**known, **{item.subtask_id: [item] for item in functions}}
    content = [item.model_dump(mode="json") for name in sorted(held) for item in held[name]]
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False))
