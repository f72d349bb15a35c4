"""Mutants of an evaluation function: one of its conditions no longer looks, or says the opposite.

Method section 4. A condition is a call of a check, in terms of the parameters, found by running the function
on right work. One whose answer may as well stay what it is, whatever the evidence, is idle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskloom.evaluators_api.checks.declaration import Answer, Check
from taskloom.evaluators_api.checks.registry import checks
from taskloom.evaluators_api.interpreter.recorder import LONGEST_RECORDED, Alteration
from taskloom.evaluators_api.state.templates import templated
from taskloom.taskgraph.records.evaluation_function import CheckCall, Evaluation

MOST_CONDITIONS = 60
"""Conditions of one function that are examined."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A call of a check, in terms of the parameters."""

    check: str
    arguments: tuple[tuple[str, str], ...]
    """Names and texts of its arguments, in terms of the parameters, as templates."""
    index: int
    """Number of the call on right work, from 0."""
    answer: str
    """Its answer there, as text."""

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The check with its arguments: equal for conditions that ask the same at two places."""
        return self.check, self.arguments

    def differs(self, calls: Sequence[CheckCall]) -> bool:
        """Whether some call of its check is answered otherwise than it was on right work."""
        return any(call.check == self.check and call.answer != self.answer for call in calls)

    def describe(self) -> str:
        """The condition as a call.

        >>> Condition("check_file_exists", (("file_path", "{path}"),), 0, "True").describe()
        "check_file_exists('{path}') [call 0]"
        """
        told = (text.replace("{{", "{").replace("}}", "}") for _, text in self.arguments)
        return f"{self.check}({', '.join(map(repr, told))}) [call {self.index}]"


def conditions(evaluation: Evaluation, parameters: Mapping[str, str]) -> tuple[Condition, ...]:
    """The unique conditions that a function asked on right work, in order."""
    found: dict[object, Condition] = {}
    for index, call in enumerate(evaluation.calls):
        condition = Condition(call.check, _generic(call.arguments, parameters), index, call.answer)
        found.setdefault(condition.key, condition)
    return tuple(found.values())[:MOST_CONDITIONS]


def route_dependence(asked: Sequence[Condition]) -> float:
    """Share of the conditions that read the inputs made rather than the state reached; 0 without any."""
    routes = [checks()[item.check].reads_route for item in asked]
    return sum(routes) / len(routes) if routes else 0.0


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with changed answers to some of its conditions."""

    changed: Sequence[Condition]
    asked: Sequence[Condition]
    """All conditions of the function."""
    flipped: bool = False
    """Whether they say the opposite of what they say on right work, rather than always that."""

    def alteration(self, parameters: Mapping[str, str]) -> Alteration:
        """What a sandbox does to the answers of a call with `parameters`.

        Calls are recognised by what they ask; one that asks what no condition asks on right work (its
        arguments come from the state) is recognised by its number.
        """
        by_key = {item.key: item for item in self.changed}
        by_index = {item.index: item for item in self.changed}
        known = {item.key for item in self.asked}

        def alter(index: int, check: Check, arguments: dict[str, str], answer: Answer) -> Answer:
            key = (check.name, _generic(arguments, parameters))
            found = by_key.get(key)
            if found is None and key not in known:
                found = by_index.get(index)
            return answer if found is None or found.check != check.name else self._answer(found, check)

        return alter

    def _answer(self, condition: Condition, check: Check) -> Answer:
        right = condition.answer
        if check.returns == "str":
            return right if not self.flipped else "" if right else "other"
        return (right == "True") != self.flipped


def _generic(arguments: Mapping[str, str], parameters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, templated(text[:LONGEST_RECORDED], parameters)) for name, text in arguments.items())
