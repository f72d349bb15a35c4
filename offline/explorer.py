"""Explorer by rule: proposes the curated subtasks that the request shows, all of them."""

from __future__ import annotations

from random import Random

from offline.mistakes import InjectedMistake, MistakeSource
from prompts.inputs import ExplorerInput, SubtaskExample
from prompts.replies import ExplorerReply, NamedValue, ProposedSubtask
from resources.applications import ResourceDeclaration


def explore(
    view: ExplorerInput, attempt: int, mistakes: MistakeSource
) -> tuple[ExplorerReply, tuple[InjectedMistake, ...]]:
    """The curated subtasks as proposals, at most as many as are wanted."""
    proposals, made = [], []
    asked = {item.name for item in view.to_declare}
    examples = [example for example in view.examples if not asked or example.name in asked]
    for example in examples[: view.wanted]:
        drawn = mistakes.draw(("wrong_resource",), "explorer", view.application, example.name, attempt)
        spoiled = _spoil(example, view, drawn[1]) if drawn else None
        if spoiled is not None:
            made.append(InjectedMistake("wrong_resource", example.name))
        proposals.append(_proposal(spoiled or example))
    return ExplorerReply(subtasks=proposals), tuple(made)


def _proposal(example: SubtaskExample) -> ProposedSubtask:
    return ProposedSubtask(
        name=example.name,
        instruction_template=example.instruction_template,
        parameter_sets=[
            [NamedValue(name=name, value=value) for name, value in values.items()]
            for values in example.parameter_sets
        ],
        inputs=list(example.inputs),
        outputs=list(example.outputs),
        fresh=list(example.fresh),
    )


def _spoil(example: SubtaskExample, view: ExplorerInput, random: Random) -> SubtaskExample | None:
    """The example with one resource wrong: of another category, left out, or made up."""
    changes = []
    for field in ("inputs", "outputs"):
        declared: tuple[ResourceDeclaration, ...] = getattr(example, field)
        for position, declaration in enumerate(declared):
            others = _same_kind(declaration.category, view)
            if others:
                wrong = declaration.model_copy(update={"category": random.choice(others)})
                changes.append({field: (*declared[:position], wrong, *declared[position + 1 :])})
            changes.append({field: (*declared[:position], *declared[position + 1 :])})
    names = list(example.parameter_sets[0])
    declared_names = {item.parameter for item in (*example.inputs, *example.outputs)}
    for name in names:
        files = [category.name for category in view.resource_categories if category.kind == "file"]
        if name not in declared_names and files:
            made_up = ResourceDeclaration(category=random.choice(files), parameter=name)
            changes.append({"inputs": (*example.inputs, made_up)})
    return example.model_copy(update=random.choice(changes)) if changes else None


def _same_kind(category: str, view: ExplorerInput) -> list[str]:
    kinds = {item.name: item.kind for item in view.resource_categories}
    return [name for name, kind in kinds.items() if kind == kinds.get(category) and name != category]
