"""Intent extractor by rule: groups of subtasks between which resources flow, each summed up by a wording of the catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random

from offline.resource_flow import Flow, flow_graph
from offline.resource_phrases import spoken
from prompts.inputs import IntentExtractorInput, ScenarioInView, SubtaskInPool
from prompts.replies import IntentExtractorReply, ProposedIntent
from resources.goals import GoalWording

_BREADTHS = (2, 1, 3, 2, 12)
"""Most application categories of a group, in turn: goals range from one sort of work to all of it."""

_PATIENCE = 12
"""Groups grown per intent wanted before it is admitted that there are no more."""


def extract(
    view: IntentExtractorInput, attempt: int, wordings: Sequence[GoalWording]
) -> IntentExtractorReply:
    """Connected groups of many sizes, every linked subtask in some of them, as many as are wanted."""
    pool = {subtask.subtask_id: subtask for subtask in view.subtasks}
    neighbours = flow_graph(view.subtasks)
    random = Random(f"intents {attempt} {len(pool)} {len(view.known_goals)}")
    seeds = sorted(pool, key=lambda name: (-len(neighbours[name]), name))
    goals = set(view.known_goals)
    groups: set[frozenset[str]] = set()
    intents: list[ProposedIntent] = []
    sizes = range(view.smallest_group, view.largest_group + 1)
    first = len(view.known_goals)
    for turn in range(first, first + _PATIENCE * view.wanted):
        if len(intents) >= view.wanted or not seeds:
            break
        seed = seeds[turn % len(seeds)]
        size = sizes[(turn * 5 + turn // len(seeds)) % len(sizes)]
        breadth = _BREADTHS[(turn + turn // len(seeds)) % len(_BREADTHS)]
        group = _grow(seed, size, view.smallest_group, breadth, neighbours, pool, random)
        if len(group) < view.smallest_group or frozenset(group) in groups:
            continue
        groups.add(frozenset(group))
        goal = _goal([pool[name] for name in group], neighbours, wordings, goals)
        goals.add(goal)
        scenario = _scenario({pool[name].application_category for name in group}, view.scenarios)
        intents.append(ProposedIntent(goal=goal, subtask_ids=group, scenario=scenario))
    return IntentExtractorReply(intents=intents)


def _grow(
    seed: str,
    size: int,
    smallest: int,
    breadth: int,
    neighbours: Mapping[str, Mapping[str, Flow]],
    pool: Mapping[str, SubtaskInPool],
    random: Random,
) -> list[str]:
    """A group around `seed`, connected as far as resources flow; other applications are somewhat preferred.

    Its applications belong to at most `breadth` categories. Where too little flows, subtasks of the same applications
    fill it up to the smallest size.
    """
    group = [seed]
    while len(group) < size:
        applications = {pool[name].application for name in group}
        categories = {pool[name].application_category for name in group}
        border = sorted(
            other
            for other in {other for name in group for other in neighbours[name]} - set(group)
            if len(categories | {pool[other].application_category}) <= breadth
        )
        if not border:
            if len(group) >= smallest or not neighbours[seed]:
                break
            border = sorted(
                name for name in pool if name not in group and pool[name].application in applications
            )
            if not border:
                break
        weights = [1 if pool[name].application in applications else 3 for name in border]
        group.append(random.choices(border, weights)[0])
    return group


def _goal(
    group: Sequence[SubtaskInPool],
    neighbours: Mapping[str, Mapping[str, Flow]],
    wordings: Sequence[GoalWording],
    taken: Collection[str],
) -> str:
    members = {subtask.subtask_id for subtask in group}
    flows = Counter(
        name for one in sorted(members) for other, name in neighbours[one].items() if other in members
    )
    categories = {subtask.application_category for subtask in group}
    for wording in wordings:
        wanted = wording.resource_categories
        if not set(wording.application_categories) <= categories:
            continue
        for (category, value), _ in flows.most_common():
            if wanted and category not in wanted:
                continue
            goal = wording.goal.replace("{value}", spoken(category, value)).rstrip(".")
            if goal not in taken:
                return goal
    values = list(dict.fromkeys(spoken(*flow) for flow, _ in flows.most_common()))
    titles = " and ".join(sorted({subtask.application for subtask in group}))
    goal = f"Finish the work on {', '.join(values[:3]) or 'several things'} in {titles}"
    number = 2
    unique = goal
    while unique in taken:
        unique, number = f"{goal}, part {number}", number + 1
    return unique


def _scenario(categories: set[str], scenarios: Sequence[ScenarioInView]) -> str:
    for scenario in scenarios:
        if set(scenario.application_categories) == categories:
            return scenario.name
    return next((scenario.name for scenario in scenarios if not scenario.application_categories), "")
