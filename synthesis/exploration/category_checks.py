"""Whether a resource category that a model proposes may be used: well formed, new, written by one subtask and
read by another."""

import re
from collections.abc import Mapping, Sequence

from taskloom.prompts.replies import ExplorerReply, NewCategory, ProposedSubtask
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.taskgraph.records.exploration import ProposedCategory
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_SHORTEST_DESCRIPTION = 10
_STAGE = "exploration"


def checked_categories(
    reply: ExplorerReply,
    verified: Sequence[Subtask],
    known: Mapping[str, ResourceCategory],
    application: Application,
    provenance: Provenance,
) -> tuple[tuple[ProposedCategory, ...], list[Rejection]]:
    """The proposed categories that may be used, and the others with their reasons.

    Producers and consumers are looked for among the proposals of the reply and the `verified` subtasks. A
    name that is known already stands for what it is known as, and needs no proposal.
    """
    here = provenance.model_copy(update={"stage": _STAGE})
    subtasks: list[ProposedSubtask | Subtask] = [*reply.subtasks, *verified]
    writers = {item.category for subtask in subtasks for item in subtask.outputs}
    readers = {item.category for subtask in subtasks for item in subtask.inputs}
    accepted: dict[str, ProposedCategory] = {}
    rejections: list[Rejection] = []
    for item in reply.categories:
        if item.name in known or item.name in accepted:
            continue
        told = {"kind": item.kind, "description": item.description}
        problem = _problem(item, writers, readers)
        if problem is None:
            accepted[item.name] = ProposedCategory(
                name=item.name,
                kind=ResourceKind(item.kind),
                description=item.description,
                application=application.name,
                provenance=here,
            )
            continue
        rejections.append(
            Rejection(
                item_kind="resource_category",
                item_id=f"{application.name}.{item.name}",
                stage=_STAGE,
                reason=problem[0],
                message=problem[1],
                details=told,
                provenance=here,
            )
        )
    return tuple(accepted.values()), rejections


def _problem(item: NewCategory, writers: set[str], readers: set[str]) -> tuple[str, str] | None:
    if not _NAME.fullmatch(item.name):
        return "name_invalid", f"{item.name!r} is no name of lower-case letters, digits and underscores."
    if item.kind not in set(ResourceKind):
        return "unknown_kind", f"there is no kind {item.kind!r}; known: {', '.join(ResourceKind)}."
    if len(item.description.strip()) < _SHORTEST_DESCRIPTION:
        return "no_description", f"{item.name!r} needs a sentence that says what it is."
    if item.name not in writers or item.name not in readers:
        missing = "written" if item.name not in writers else "read"
        return "one_sided", f"{item.name!r} is {missing} by no subtask; a category joins subtasks."
    return None
