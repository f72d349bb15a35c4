"""A model as second reader of an audit: it compares what a task says with how its outcome is judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taskloom.flows.errors import CommandError
from taskloom.flows.running.together import together
from taskloom.flows.settings import Settings
from taskloom.flows.wiring import call_place_of, prepare_data_folder
from taskloom.model_clients.errors import CallFailedError, ReplyInvalidError
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.role_models import RoleModels
from taskloom.prompts.critic_input import SecondReaderInput
from taskloom.prompts.replies import TaskFault
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.text_cutting import cut_text
from taskloom.taskgraph.text_folding import fold_text
from taskloom.warehouse.importing.audit import Finding
from taskloom.warehouse.records import ImportedItem

_STAGE = "audit"
_AT_A_TIME = 16
_MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class SecondReading:
    """What the model found, and what that took."""

    findings: tuple[Finding, ...]
    read: int
    """Tasks that it gave an answer about."""
    unread: int
    """Tasks whose call failed, or whose answer was of no use."""
    calls: int
    """Calls made; answers of an earlier audit are in the ledger."""
    cost_usd: float


async def read_again(
    settings: Settings, tasks: Sequence[Task], originals: Iterable[ImportedItem]
) -> SecondReading:
    """Ask the model of the role critic about each task; the answers are kept in the ledger.

    A fault counts where its quote stands in the task. All are warnings.

    Raises:
        CommandError: no model plays the critic.
        BudgetExhaustedError: the calls could exceed the budget.
    """
    if settings.is_offline(ModelRole.CRITIC):
        raise CommandError("no rule plays the critic; name a model under models.roles.critic")
    prepare_data_folder(settings.data)
    known = {item.item_id: item for item in originals}
    findings: list[Finding] = []
    unread = 0
    with Ledger(settings.data / "ledger.sqlite") as ledger:
        async with RoleModels(
            settings.models, ledger, run_id=_STAGE, shared_place=call_place_of(settings)
        ) as models:
            for start in range(0, len(tasks), _AT_A_TIME):
                some = tasks[start : start + _AT_A_TIME]
                for answer in await together(_faults(models, task, known.get(task.task_id)) for task in some):
                    unread += answer is None
                    findings += answer or ()
            total = models.counters.total
    return SecondReading(tuple(findings), len(tasks) - unread, unread, total.calls_made, total.cost_usd)


async def _faults(models: RoleModels, task: Task, original: ImportedItem | None) -> list[Finding] | None:
    """What the model finds in one task; None where it gives no answer."""
    content = _content(task, original)
    question = SecondReaderInput(instruction=task.instruction, content=cut_text(content, _MOST_CHARACTERS))
    try:
        reply = await models.ask(question, stage=_STAGE, item_id=task.task_id)
    except (CallFailedError, ReplyInvalidError):
        return None
    place = original.place if original else "tasks"
    said = fold_text(f"{task.instruction}\n{content}")
    return [_finding(task, place, fault) for fault in reply.faults if fold_text(fault.quote) in said]


def _finding(task: Task, place: str, fault: TaskFault) -> Finding:
    return Finding(
        file=place,
        item_id=task.task_id,
        field="instruction",
        severity="warning",
        check=f"second_reader_{fault.kind}",
        message=f"{fault.quote!r}: {fault.reason}",
    )


def _content(task: Task, original: ImportedItem | None) -> str:
    """The task's own file, or for ours what its subtasks do and with which values."""
    if original is not None:
        return json.dumps(original.content, ensure_ascii=False, indent=1)
    nodes = [{"instruction": node.instruction, "values": node.parameters} for node in task.graph.nodes]
    return json.dumps({"subtasks": nodes}, ensure_ascii=False, indent=1)
