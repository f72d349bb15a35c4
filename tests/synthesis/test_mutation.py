"""Mutants change one check at a time and leave the call in place."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from synthesis.examination.mutation import MOST_MUTANTS, mutants, route_dependence

SOURCE = """```python
def evaluate_agent_task_completion(a):
    if not check_file_exists(a):
        return False
    return check_mouse_clicks('Save') and get_clipboard_text() == a
```"""


def test_every_call_is_dropped_both_ways_and_negated() -> None:
    made = mutants(SOURCE)
    assert [(item.site, item.change) for item in made] == [
        (0, "always_true"),
        (0, "always_false"),
        (0, "negated"),
        (1, "always_true"),
        (1, "always_false"),
        (1, "negated"),
        (2, "empty"),
    ]
    assert "check_file_exists(a) or True" in made[0].source
    assert made[0].check == "check_file_exists(a)"
    assert len({item.source for item in made}) == len(made)


def test_mutants_are_programs() -> None:
    for mutant in mutants(SOURCE):
        ast.parse(mutant.source)


def test_there_is_a_limit() -> None:
    many = "def f():\n    return [" + ", ".join(f"check_window('{n}')" for n in range(100)) + "]"
    assert len(mutants(many)) == MOST_MUTANTS


def test_route_dependence_is_the_share_of_checks_of_inputs() -> None:
    assert route_dependence(SOURCE) == 1 / 3
    assert route_dependence("x = 1") == 0.0


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    assert len(mutants(text)) <= MOST_MUTANTS
    assert 0.0 <= route_dependence(text) <= 1.0
