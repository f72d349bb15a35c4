"""Whether proposed subtasks and resource categories are well formed, without performing anything."""

import re
from collections.abc import Iterable, Mapping, Sequence

from taskloom.prompts.replies import ExplorerReply, NewCategory, ProposedSubtask
from taskloom.resources.applications import Application, SubtaskTemplate
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.synthesis.errors import SynthesisError
from taskloom.taskgraph.errors import ParameterInvalidError
from taskloom.taskgraph.records.exploration import ProposedCategory
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask, placeholders
from taskloom.taskgraph.records.task import Rejection

DECLARATION_REASONS = frozenset(
    {"unknown_category", "declaration_mismatch", "category_contradicted", "resource_without_value"}
)
"""Reasons that concern only what a proposal declares to read and write, not the subtask itself."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CATEGORY_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_SHORTEST_DESCRIPTION = 10
_STAGE = "exploration"


class _RefusedError(SynthesisError):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def accepted_subtask(
    proposal: ProposedSubtask,
    application: Application,
    categories: Mapping[str, ResourceCategory],
    known: Iterable[Subtask],
    provenance: Provenance,
    *,
    earlier: Iterable[Subtask] = (),
) -> Subtask | Rejection:
    """The subtask of a proposal, or its rejection; a proposal must be usable as it is.

    Placeholders and parameters must agree, at least one complete parameter set must remain after duplicates
    are dropped, declared categories must exist and fit their values, and no known subtask may mean the same.
    A subtask of `earlier` runs may have the same name: the proposal is then a new version of it.
    """
    try:
        if not proposal.instruction_template.strip():
            raise _RefusedError("empty_value", "its instruction_template is empty.")
        template = _template(proposal)
        _refuse_repetition(template, earlier, categories)
        return _subtask(template, application, categories, known, provenance)
    except _RefusedError as refused:
        return _rejection(refused, proposal, application, provenance)


def curated_subtasks(
    application: Application, categories: Mapping[str, ResourceCategory], provenance: Provenance
) -> tuple[tuple[Subtask, ...], list[Rejection]]:
    """The curated subtasks of an application, and rejections of those that break a rule of proposals."""
    subtasks: list[Subtask] = []
    rejections: list[Rejection] = []
    for example in application.example_subtasks:
        try:
            subtasks.append(_subtask(example, application, categories, subtasks, provenance))
        except _RefusedError as refused:
            rejections.append(_rejection(refused, example, application, provenance))
    return tuple(subtasks), rejections


def _rejection(
    refused: _RefusedError,
    proposal: ProposedSubtask | SubtaskTemplate,
    application: Application,
    provenance: Provenance,
) -> Rejection:
    return Rejection(
        item_kind="subtask",
        item_id=f"{application.name}.{proposal.name}",
        stage=_STAGE,
        reason=refused.reason,
        message=str(refused),
        details={"instruction_template": proposal.instruction_template},
        provenance=provenance,
    )


def _template(proposal: ProposedSubtask) -> SubtaskTemplate:
    """The proposal with its lists of named values as mappings; no name may occur twice in a set."""
    if not _NAME.fullmatch(proposal.name):
        raise _RefusedError(
            "name_invalid", f"{proposal.name!r} is not a name of lower-case letters, digits and underscores."
        )
    sets = [{item.name: item.value for item in values} for values in proposal.parameter_sets]
    for values, names in zip(proposal.parameter_sets, sets, strict=True):
        if len(names) < len(values):
            raise _mismatch([item.name for item in values], placeholders(proposal.instruction_template))
    return SubtaskTemplate.model_validate({**proposal.model_dump(), "parameter_sets": sets or [{}]})


def _mismatch(given: Iterable[str], names: Iterable[str]) -> _RefusedError:
    return _RefusedError(
        "parameters_mismatch",
        f"a parameter set names {sorted(given)}; the instruction has {sorted(names)}.",
    )


def _subtask(
    proposal: SubtaskTemplate,
    application: Application,
    categories: Mapping[str, ResourceCategory],
    known: Iterable[Subtask],
    provenance: Provenance,
) -> Subtask:
    names = placeholders(proposal.instruction_template)
    sets = _parameter_sets(proposal, names)
    unknown = sorted(set(proposal.fresh) - set(names))
    if unknown:
        raise _RefusedError(
            "parameters_mismatch", f"`fresh` names {unknown}, which the instruction does not have."
        )
    for declaration in (*proposal.inputs, *proposal.outputs):
        if declaration.category not in categories:
            raise _RefusedError(
                "unknown_category",
                str(UnknownCatalogEntryError("resource category", declaration.category, categories)),
            )
        if declaration.parameter and declaration.parameter not in names:
            raise _RefusedError(
                "declaration_mismatch",
                f"{declaration.category!r} takes its value from {declaration.parameter!r}; the instruction"
                f" has {names}.",
            )
        _check_value(declaration.category, declaration.parameter, sets, categories)
    known = tuple(known)
    _refuse_repetition(proposal, known, categories)
    if any(other.subtask_id == f"{application.name}.{proposal.name}" for other in known):
        raise _RefusedError("duplicate", f"the name {proposal.name!r} is taken by another proposal.")
    identity = (proposal.name, proposal.instruction_template)
    examples = application.example_subtasks
    example = next((item for item in examples if (item.name, item.instruction_template) == identity), None)
    subtask = Subtask.of(
        proposal.model_copy(update={"parameter_sets": sets}),
        application,
        origin="curated" if example else "proposed",
        worked_example=example.worked_example if example else (),
        second_example=example.second_example if example else (),
        provenance=provenance.model_copy(update={"stage": _STAGE}),
    )
    try:
        for parameters in sets:
            subtask.bind(parameters, categories)
    except ParameterInvalidError as error:
        raise _RefusedError("resource_without_value", str(error)) from error
    return subtask


def _refuse_repetition(
    proposal: SubtaskTemplate, known: Iterable[Subtask], categories: Mapping[str, ResourceCategory]
) -> None:
    for other in known:
        templates = other.instruction_template, proposal.instruction_template
        if len({_normalise(template, categories) for template in templates}) == 1:
            raise _RefusedError("duplicate", f"says the same as {other.subtask_id}.")


def _parameter_sets(proposal: SubtaskTemplate, names: list[str]) -> tuple[dict[str, str], ...]:
    sets: list[dict[str, str]] = []
    for parameters in proposal.parameter_sets:
        if set(parameters) != set(names):
            raise _mismatch(parameters, names)
        if not all(value.strip() for value in parameters.values()):
            raise _RefusedError("empty_value", f"a parameter set has an empty value: {parameters}.")
        ordered = {name: parameters[name] for name in names}
        if ordered not in sets:
            sets.append(ordered)
    return tuple(sets)


def _check_value(
    category: str,
    parameter: str,
    sets: Iterable[Mapping[str, str]],
    categories: Mapping[str, ResourceCategory],
) -> None:
    """Refuse a parameter named like another category, and a file whose suffix implies another one."""
    kind = categories[category].kind
    if parameter in categories and parameter != category and categories[parameter].kind is kind:
        raise _RefusedError(
            "category_contradicted",
            f"the parameter {parameter!r} is named like a resource category but declared as {category!r}.",
        )
    if kind is ResourceKind.FILE and parameter:
        for parameters in sets:
            implied = f"{parameters[parameter].rpartition('.')[2].lower()}_path"
            if implied in categories and implied != category:
                raise _RefusedError(
                    "category_contradicted",
                    f"{parameters[parameter]!r} is declared as {category!r}, but its ending says"
                    f" {implied!r}.",
                )


def _normalise(template: str, categories: Mapping[str, ResourceCategory]) -> str:
    """The template without case, spaces and names of parameters that are not categories."""

    def replace_name(match: re.Match[str]) -> str:
        return match.group() if match.group(1) in categories else "{}"

    return " ".join(re.sub(r"\{([^}]*)\}", replace_name, template).casefold().split()).rstrip(".")


def checked_categories(
    reply: ExplorerReply,
    verified: Sequence[Subtask],
    known: Mapping[str, ResourceCategory],
    application: Application,
    provenance: Provenance,
) -> tuple[tuple[ProposedCategory, ...], list[Rejection]]:
    """The proposed categories that may be used, and rejections of the others.

    Producers and consumers are sought among the proposals of the reply and the `verified` subtasks. A
    name that is known already keeps its meaning, and needs no proposal.
    """
    stage_provenance = provenance.model_copy(update={"stage": _STAGE})
    subtasks: list[ProposedSubtask | Subtask] = [*reply.subtasks, *verified]
    writers = {item.category for subtask in subtasks for item in subtask.outputs}
    readers = {item.category for subtask in subtasks for item in subtask.inputs}
    accepted: dict[str, ProposedCategory] = {}
    rejections: list[Rejection] = []
    for item in reply.categories:
        if item.name in known or item.name in accepted:
            continue
        problem = _problem(item, writers, readers)
        if problem is None:
            accepted[item.name] = ProposedCategory(
                name=item.name,
                kind=ResourceKind(item.kind),
                description=item.description,
                application=application.name,
                provenance=stage_provenance,
            )
            continue
        rejections.append(
            Rejection(
                item_kind="resource_category",
                item_id=f"{application.name}.{item.name}",
                stage=_STAGE,
                reason=problem[0],
                message=problem[1],
                details={"kind": item.kind, "description": item.description},
                provenance=stage_provenance,
            )
        )
    return tuple(accepted.values()), rejections


def _problem(item: NewCategory, writers: set[str], readers: set[str]) -> tuple[str, str] | None:
    if not _CATEGORY_NAME.fullmatch(item.name):
        return "name_invalid", f"{item.name!r} is not a name of lower-case letters, digits and underscores."
    if item.kind not in set(ResourceKind):
        return "unknown_kind", f"there is no kind {item.kind!r}; known: {', '.join(ResourceKind)}."
    if len(item.description.strip()) < _SHORTEST_DESCRIPTION:
        return "no_description", f"{item.name!r} needs a sentence that says what it is."
    if item.name not in writers or item.name not in readers:
        missing = "written" if item.name not in writers else "read"
        return "one_sided", f"{item.name!r} is {missing} by no subtask; a category joins subtasks."
    return None
