"""OSWorld: `examples/<domain>/<id>.json`, one task a file. A task is one subtask: OSWorld knows no graph.

What OSWorld's own loader does without may be absent: `config`, `related_apps` and everything beside `id`,
`instruction` and `evaluator`. Ids repeat between domains, so a task's id here is `<format>:<domain>/<id>`,
where a domain may be several folders deep (`Windows/word`). `evaluator.func` may be one metric or a list with
parallel lists of results and expectations. A task whose metric is `infeasible` is kept and marked so in
`imported_items`.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from taskloom.taskgraph.reading.faults import json_kind
from taskloom.warehouse.importing.episodes import Description, read_tasks
from taskloom.warehouse.importing.items import ForeignModel, Identifier, Item, Records, Text, items_of
from taskloom.warehouse.importing.json_reading import collection_files

_NO_TASK = "template.json"
_INDEX_FILES = "test_*.json"
_FOLDER = re.compile(r"examples(_\w+)?")


class _Step(ForeignModel):
    type: Text
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class _Evaluator(ForeignModel):
    func: JsonValue
    conj: Literal["and", "or"] = "and"
    result: JsonValue = None
    expected: JsonValue = None
    options: JsonValue = None

    @model_validator(mode="after")
    def _lists_agree(self) -> Self:
        listed = isinstance(self.func, list)
        names = self.func if isinstance(self.func, list) else [self.func]
        if not names or not all(isinstance(name, str) and name.strip() for name in names):
            raise ValueError(f"func must name a metric or list metrics; it is {self.func!r}")
        if self.func == "infeasible":
            return self
        wrong = [
            text
            for name in ("result", "expected", "options")
            if (text := _disagreement(name, getattr(self, name), len(names) if listed else None))
        ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


class _Task(ForeignModel):
    id: Identifier
    instruction: Text
    evaluator: _Evaluator
    config: list[_Step] | None = None
    related_apps: list[str] | None = None
    proxy: bool | None = None
    fixed_ip: bool | None = None
    possibility_of_env_change: Literal["low", "medium", "high"] | None = None


def read(path: Path) -> Records:
    """The tasks of a file, of a domain's folder, or of the whole collection."""
    return read_collection(path, "osworld")


def read_collection(path: Path, format_name: str) -> Records:
    """`read` for a format of the same layout."""
    root = path if path.is_dir() else path.parent
    files = [
        (file, shown)
        for folder in _examples(path)
        for file, shown in collection_files(folder, root=path)
        if file.name != _NO_TASK and not (file.match(_INDEX_FILES) and file.parent == root)
    ]
    places = {shown: _place(file, root) for file, shown in files}

    def name(item: Item) -> str:
        return f"{PurePosixPath(places[item.file]).parent}/{item.named('id')}"

    def describe(item: Item) -> Description:
        task = item.parsed(_Task)
        return Description(
            task.instruction,
            task.related_apps or ("os",),
            place=places[item.file],
            infeasible=task.evaluator.func in ("infeasible", ["infeasible"]),
        )

    yield from read_tasks(format_name, items_of(files), name, describe)


def _examples(path: Path) -> list[Path]:
    """The folders of tasks: `examples` in a repository, and others beside it (`examples_windows`)."""
    for inside in ("evaluation_examples/examples", "evaluation_examples_windows/examples", "examples"):
        if (path / inside).is_dir():
            beside = (path / inside).parent.iterdir()
            return sorted(item for item in beside if item.is_dir() and _FOLDER.fullmatch(item.name))
    return [path]


def _place(file: Path, root: Path) -> str:
    """Domain and file: folders below `examples` or from one beside it on, else below the imported one."""
    parts = file.absolute().parts
    at = next((at for at in range(len(parts) - 3, -1, -1) if _FOLDER.fullmatch(parts[at])), None)
    if at is not None:
        return "/".join(parts[at + (parts[at] == "examples") :])
    below = file.relative_to(root).parts
    return "/".join(below if len(below) > 1 else (root.absolute().name, *below))


def _disagreement(name: str, value: JsonValue, metrics: int | None) -> str:
    """How a field contradicts the number of metrics that read it, None for one alone."""
    if value is None or value in ({}, []):
        return ""
    if metrics is None:
        if isinstance(value, list):
            return f"{name} is a list, but func names one metric"
        return "" if isinstance(value, dict) else f"{name} must be an object, not {json_kind(value)}"
    if not isinstance(value, list):
        return f"{name} must be a list like func, not {json_kind(value)}"
    if len(value) != metrics:
        return f"{name} has {len(value)} entries, but func names {metrics} metrics"
    odd = next(
        (at for at, entry in enumerate(value) if entry is not None and not isinstance(entry, dict)), None
    )
    return "" if odd is None else f"{name}[{odd}] must be an object, not {json_kind(value[odd])}"
