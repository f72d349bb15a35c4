"""WebArena, VisualWebArena, WebArena-Verified: configurations, as lists or as one file per task.

A task is one subtask, which fills in a template: tasks of one template are known as such. A task whose
reference answer is `N/A`, or whose expected status is an error, is kept and marked as infeasible.
"""

import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from taskloom.warehouse.importing.episodes import Description, read_tasks
from taskloom.warehouse.importing.items import ForeignModel, Identifier, Item, Records, Text, items_of
from taskloom.warehouse.importing.json_reading import as_text, collection_files


class _Evaluation(ForeignModel):
    eval_types: list[Text] = Field(min_length=1)
    reference_answers: JsonValue = None
    statuses: list[JsonValue] = Field(default_factory=list)
    """Results that the evaluators of WebArena-Verified expect."""


def _as_evaluation(value: object) -> object:
    """The list of evaluators of WebArena-Verified as the one object of WebArena."""
    if not isinstance(value, list):
        return value
    parts = [part if isinstance(part, dict) else {} for part in value]
    expected = [part["expected"] for part in parts if isinstance(part.get("expected"), dict)]
    return {
        "eval_types": [part.get("evaluator") for part in parts],
        "statuses": [part["status"] for part in expected if "status" in part],
    }


class _Task(ForeignModel):
    task_id: Identifier
    intent: Text
    sites: list[Text] = Field(min_length=1)
    eval: Annotated[_Evaluation, BeforeValidator(_as_evaluation)]
    intent_template: str = ""
    instantiation_dict: dict[str, JsonValue] = Field(default_factory=dict)


def read(path: Path) -> Records:
    """The tasks of a file, or of a folder with its subfolders."""
    yield from read_tasks("web_arena", items_of(collection_files(path)), _name, _describe)


def _name(item: Item) -> str:
    """The id includes the file's name, because ids repeat between the files of VisualWebArena."""
    file = Path(item.file)
    group = (
        file.name.removesuffix(".json").removesuffix(".raw") if item.place else file.parent.name or "tasks"
    )
    return f"{group}/{item.named('task_id')}"


def _describe(item: Item) -> Description:
    task = item.parsed(_Task)
    if _accepts_everything(task.eval.reference_answers):
        raise item.refused(
            "eval.reference_answers.must_include", "names no text, so that every answer is accepted"
        )
    digest = hashlib.sha256(task.intent_template.encode()).hexdigest()[:12]
    return Description(
        task.intent,
        task.sites,
        infeasible=_is_impossible(task.eval),
        template=f"web_arena:template-{digest}" if task.intent_template else "",
        parameters={name: as_text(value) for name, value in task.instantiation_dict.items()},
    )


def _is_impossible(evaluation: _Evaluation) -> bool:
    answers = evaluation.reference_answers
    if any(status != "SUCCESS" for status in evaluation.statuses):
        return True
    return isinstance(answers, dict) and "N/A" in (answers.get("fuzzy_match"), answers.get("exact_match"))


def _accepts_everything(answers: JsonValue) -> bool:
    """Whether every answer holds all that must be included: nothing, or texts with nothing in them."""
    wanted = answers.get("must_include") if isinstance(answers, dict) else None
    return isinstance(wanted, list) and all(isinstance(text, str) and not text.strip() for text in wanted)
