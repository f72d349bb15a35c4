"""Formats whose items are tasks of one subtask without a demonstration, one function each."""

import hashlib
import json
import re
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Annotated, Final, Literal, Self

from pydantic import AliasChoices, AliasPath, BeforeValidator, Field, JsonValue, model_validator

from taskloom.taskgraph.reading.faults import json_kind
from taskloom.warehouse.errors import GOAL_NOT_WRITTEN, ImportRefusedError
from taskloom.warehouse.importing.episodes import Description, read_tasks, website_name
from taskloom.warehouse.importing.items import (
    ForeignModel,
    Identifier,
    Item,
    Items,
    Records,
    Text,
    items_of,
    settings_items,
    table_rows,
    unreadable_item,
)
from taskloom.warehouse.importing.json_reading import as_text, collection_files, matching_files, parse_json

_ROWS: Final = 1_000
_INDEX_FILES: Final = "test_*.json"
_FOLDER: Final = re.compile(r"examples(_\w+)?")


class _CuaGymTask(ForeignModel):
    instruction: Text
    app_type: str | None = None


def cua_gym(path: Path) -> Records:
    """CUA-Gym: its table of tasks, `data/tasks.parquet`, or the same rows as JSON Lines.

    A task is one subtask. The bundles of the archive, with setup and reward, are neither read nor run; the
    row that is kept says where they are in the archive.
    """

    def describe(item: Item) -> Description:
        task = item.parse(_CuaGymTask)
        return Description(task.instruction, (task.app_type,) if task.app_type else ())

    files = matching_files(path, "tasks*.parquet", "tasks*.jsonl")
    items = (
        item
        for file, label in files
        for item in (_rows(file, label) if file.suffix == ".parquet" else items_of([(file, label)]))
    )
    return read_tasks("cua_gym", items, lambda item: item.read_id("id"), describe)


def _rows(file: Path, label: str) -> Items:
    try:
        for number, row in enumerate(table_rows(file, label, _ROWS)):
            place = f"[{number}]"
            text = json.dumps(row, default=str)
            try:
                yield Item(label, parse_json(text, label, place), place)
            except ImportRefusedError as error:
                yield unreadable_item(error, f"{label}:{place}", text)
    except ImportRefusedError as error:
        yield unreadable_item(error, label)


class _CuaWorldTask(ForeignModel):
    description: Text = Field(
        validation_alias=AliasChoices("description", AliasPath("natural_language", "prompt"))
    )


class _CuaWorldEnvironment(ForeignModel):
    env_id: str = ""


def cua_world(path: Path) -> Records:
    """CUA-World (Gym-Anything): `environments/<environment>/tasks/<task>/task.json`.

    A task is one subtask of the application that its environment is for. Ids repeat between environments, so
    a task's id here is `cua_world:<environment>/<id>`.
    """

    def environment(item: Item) -> str:
        folders = Path(item.file).parts[:-3]
        environment_id = item.parse(_CuaWorldEnvironment).env_id.partition("@")[0]
        return environment_id or (folders[-1] if folders else "")

    def name(item: Item) -> str:
        return "/".join(filter(None, (environment(item), item.read_id("id"))))

    def describe(item: Item) -> Description:
        application = environment(item).removesuffix("_env")
        return Description(item.parse(_CuaWorldTask).description, (application,) if application else ())

    return read_tasks("cua_world", items_of(matching_files(path, "task.json"), one_each=True), name, describe)


class _HarborTask(ForeignModel):
    instruction: Text


def harbor(path: Path) -> Records:
    """Harbor and Terminal-Bench: a folder per task, with `task.toml` and `instruction.md`, or one
    `task.yaml`.

    A task is one subtask in a terminal. Containers, tests and solutions are neither read nor run; the
    original is the content of `task.toml` or `task.yaml`, with the instruction.
    """
    files = matching_files(path, "task.toml", "task.yaml")
    folders = {label: file.absolute().parent.name for file, label in files}

    def name(item: Item) -> str:
        """The task's folder, with several levels if the collection has them."""
        inside = Path(item.file).parent
        return inside.as_posix() if inside.name else folders[item.file]

    def describe(item: Item) -> Description:
        return Description(item.parse(_HarborTask).instruction.strip(), ("terminal",))

    return read_tasks("harbor", settings_items(files, instruction_file="instruction.md"), name, describe)


class _OSUniverseTask(ForeignModel):
    name: Text
    task: Text


def osuniverse(path: Path) -> Records:
    """OSUniverse: a YAML file per task in a folder per application.

    A task is one subtask of the application that its folder is named after. A folder's tasks are those of its
    `testcases`, if it has any.
    """

    def name(item: Item) -> str:
        return Path(item.file).with_suffix("").as_posix()

    def describe(item: Item) -> Description:
        return Description(item.parse(_OSUniverseTask).task, (Path(item.file).parent.name or "desktop",))

    top = path / "testcases" if (path / "testcases").is_dir() else path
    files = matching_files(top, "*.yaml")
    if top.is_file():
        files = [(top, f"{top.absolute().parent.name}/{top.name}")]
    return read_tasks("osuniverse", settings_items(files), name, describe)


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
    def _check_lists(self) -> Self:
        names = self.func if isinstance(self.func, list) else [self.func]
        if not names or not all(isinstance(name, str) and name.strip() for name in names):
            raise ValueError(f"func must name a metric or list metrics; it is {self.func!r}")
        if self.func == "infeasible":
            return self
        metrics = len(names) if isinstance(self.func, list) else None
        fields = {"result": self.result, "expected": self.expected, "options": self.options}
        wrong = [text for name, value in fields.items() if (text := _disagreement(name, value, metrics))]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def _disagreement(name: str, value: JsonValue, metrics: int | None) -> str:
    """How a field contradicts the number of metrics that read it, which is None for a single metric."""
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
    wrong = (at for at, entry in enumerate(value) if entry is not None and not isinstance(entry, dict))
    return next((f"{name}[{at}] must be an object, not {json_kind(value[at])}" for at in wrong), "")


class _OSWorldTask(ForeignModel):
    id: Identifier
    instruction: Text
    evaluator: _Evaluator
    config: list[_Step] | None = None
    related_apps: list[str] | None = None
    proxy: bool | None = None
    fixed_ip: bool | None = None
    possibility_of_env_change: Literal["low", "medium", "high"] | None = None


def osworld(path: Path) -> Records:
    """OSWorld: `examples/<domain>/<id>.json`, one per file. A task is one subtask: OSWorld has no graphs.

    Fields that OSWorld's own loader does not need may be absent: all but `id`, `instruction` and `evaluator`,
    hence also `config` and `related_apps`. Ids repeat between domains, so a task's id here is
    `<format>:<domain>/<id>`, where a domain may be several folders deep (`Windows/word`). `evaluator.func`
    may be one metric or a list with parallel lists of results and expectations. A task whose metric is
    `infeasible` is kept and marked as such in `imported_items`.
    """
    return _read_osworld_layout(path, "osworld")


def windows_agent_arena(path: Path) -> Records:
    """WindowsAgentArena: `evaluation_examples_windows/examples/<domain>/<id>.json`, in OSWorld's layout.

    A task is one subtask. Its metrics are those of WindowsAgentArena, which has some that OSWorld lacks.
    """
    return _read_osworld_layout(path, "windows_agent_arena")


def _read_osworld_layout(path: Path, format_name: str) -> Records:
    root = path if path.is_dir() else path.parent
    files = [
        (file, label)
        for folder in _example_folders(path)
        for file, label in collection_files(folder, root=path)
        if file.name != "template.json" and not (file.match(_INDEX_FILES) and file.parent == root)
    ]
    places = {label: _place(file, root) for file, label in files}

    def name(item: Item) -> str:
        return f"{PurePosixPath(places[item.file]).parent}/{item.read_id('id')}"

    def describe(item: Item) -> Description:
        task = item.parse(_OSWorldTask)
        return Description(
            task.instruction,
            task.related_apps or ("os",),
            place=places[item.file],
            infeasible=task.evaluator.func in ("infeasible", ["infeasible"]),
        )

    return read_tasks(format_name, items_of(files), name, describe)


def _example_folders(path: Path) -> list[Path]:
    """The folders of tasks: `examples` in a repository, and others next to it (`examples_windows`)."""
    for inside in ("evaluation_examples/examples", "evaluation_examples_windows/examples", "examples"):
        if (path / inside).is_dir():
            siblings = (path / inside).parent.iterdir()
            return sorted(item for item in siblings if item.is_dir() and _FOLDER.fullmatch(item.name))
    return [path]


def _place(file: Path, root: Path) -> str:
    """Domain and file: folders below `examples`, or from its sibling on, else below the imported folder."""
    parts = file.absolute().parts
    start = next((start for start in range(len(parts) - 3, -1, -1) if _FOLDER.fullmatch(parts[start])), None)
    if start is not None:
        return "/".join(parts[start + (parts[start] == "examples") :])
    below = file.relative_to(root).parts
    return "/".join(below if len(below) > 1 else (root.absolute().name, *below))


class _WebArenaEvaluation(ForeignModel):
    eval_types: list[Text] = Field(min_length=1)
    reference_answers: JsonValue = None
    statuses: list[JsonValue] = Field(default_factory=list)
    """Results that the evaluators of WebArena-Verified expect."""


def _as_evaluation(value: object) -> object:
    """WebArena-Verified's list of evaluators as the single object of WebArena."""
    if not isinstance(value, list):
        return value
    parts = [part if isinstance(part, dict) else {} for part in value]
    expected = [part["expected"] for part in parts if isinstance(part.get("expected"), dict)]
    return {
        "eval_types": [part.get("evaluator") for part in parts],
        "statuses": [part["status"] for part in expected if "status" in part],
    }


class _WebArenaTask(ForeignModel):
    task_id: Identifier
    intent: Text
    sites: list[Text] = Field(min_length=1)
    eval: Annotated[_WebArenaEvaluation, BeforeValidator(_as_evaluation)]
    intent_template: str = ""
    instantiation_dict: dict[str, JsonValue] = Field(default_factory=dict)


def web_arena(path: Path) -> Records:
    """WebArena, VisualWebArena, WebArena-Verified: configurations, as lists or as one file per task.

    A task is one subtask, which fills in a template; tasks of one template share it. A task whose
    reference answer is `N/A`, or whose expected status is an error, is kept and marked as infeasible. Ids
    repeat between the files of VisualWebArena, so a task's id here begins with the file's name.
    """

    def name(item: Item) -> str:
        file = Path(item.file)
        folder = file.parent.name or "tasks"
        group = file.name.removesuffix(".json").removesuffix(".raw") if item.place else folder
        return f"{group}/{item.read_id('task_id')}"

    return read_tasks("web_arena", items_of(collection_files(path)), name, _describe_web_arena)


def _describe_web_arena(item: Item) -> Description:
    task = item.parse(_WebArenaTask)
    reference = task.eval.reference_answers
    answers = reference if isinstance(reference, dict) else {}
    required = answers.get("must_include")
    if isinstance(required, list) and all(isinstance(text, str) and not text.strip() for text in required):
        raise item.refusal(
            "eval.reference_answers.must_include", "names no text, so that every answer is accepted"
        )
    digest = hashlib.sha256(task.intent_template.encode()).hexdigest()[:12]
    return Description(
        task.intent,
        task.sites,
        infeasible=any(status != "SUCCESS" for status in task.eval.statuses)
        or "N/A" in (answers.get("fuzzy_match"), answers.get("exact_match")),
        template=f"web_arena:template-{digest}" if task.intent_template else "",
        parameters={name: as_text(value) for name, value in task.instantiation_dict.items()},
    )


class _WebVoyagerTask(ForeignModel):
    ques: Text
    web: Text
    web_name: str = ""


def web_voyager(path: Path) -> Records:
    """WebVoyager: lines with a question about a live website (`web_name`, `id`, `ques`, `web`).

    A task is one subtask on that website. Its reference answers (`reference_answer.json`) are a separate
    list, which is not read.
    """

    def describe(item: Item) -> Description:
        task = item.parse(_WebVoyagerTask)
        return Description(task.ques, (task.web_name.strip() or website_name(task.web),))

    items = items_of(collection_files(path, lines_first=True))
    return read_tasks("web_voyager", items, lambda item: item.read_id("id"), describe)


class _WorkArenaTask(ForeignModel):
    goal: str = ""
    question: str = ""


def work_arena(path: Path) -> Records:
    """WorkArena: task configurations for ServiceNow (`task_configs/*.json`) with a `goal` or a `question`.

    The instructions of other configurations are generated by WorkArena's own program when a task starts and
    are not in the files; such configurations are refused with that reason.
    """

    def name(item: Item) -> str:
        return f"{PurePosixPath(item.file).stem}{item.place}"

    def describe(item: Item) -> Description:
        task = item.parse(_WorkArenaTask)
        # WorkArena's program makes a sentence of a one-word question, such as `max`.
        question = task.question.strip() if " " in task.question.strip() and ";" not in task.question else ""
        instruction = task.goal.strip() or question
        if not instruction:
            raise item.refusal(
                "goal", "is missing: WorkArena's own program generates this instruction", GOAL_NOT_WRITTEN
            )
        return Description(instruction, ("servicenow",))

    files = collection_files(path)
    configurations = [pair for pair in files if "task_configs" in PurePosixPath(pair[1]).parts]
    return read_tasks("work_arena", items_of(configurations or files), name, describe)


_ON_MACHINES = (cua_gym, cua_world, harbor, osuniverse, osworld, windows_agent_arena)
_ON_THE_WEB = (web_arena, web_voyager, work_arena)
ROWS: Final = {read.__name__: SimpleNamespace(read=read) for read in (*_ON_MACHINES, *_ON_THE_WEB)}
"""The formats by name."""
