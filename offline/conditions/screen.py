"""Conditions on the screen, for work that leaves no other trace: states, then the window, then texts."""

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from taskloom.evaluators_api.state.effects import LASTING
from taskloom.offline.conditions.conditions import Condition, Expression, Terms
from taskloom.taskgraph.records.effect import Effect

_ADDRESS = re.compile(r"^\w+://[^/?#]*/?$|^\w+://[^/?#]*")
"""The part of a page's address before the path; all of it for a start page."""


def screen_conditions(terms: Terms) -> list[Condition]:
    """Conditions on what is shown now and was not before; those with parameters first."""
    effects = terms.performance.effects
    conditions = []
    for item in effects.origins:
        if item.kind == "opened":
            complaint = f"what {item.source} holds is not shown"
            conditions.append(terms.condition("check_drawing_shown", complaint, file_path=item.source))
    for path, part in effects.shown_parts:
        complaint = f"not all of {part} is shown"
        conditions.append(terms.condition("check_records_shown", complaint, file_path=path, part=part))
    for row, text in ((row, text) for row, texts in effects.rows.items() for text in texts):
        complaint = f"{row} does not show {text}"
        conditions.append(terms.condition("check_row_shows", complaint, row=row, text=text))
    for name, on in effects.switches.items():
        complaint = f"{name} is not {'on' if on else 'off'}"
        conditions.append(terms.condition("check_control_checked", complaint, text=name, checked=on))
    for name, value in effects.contents.items():
        if terms.is_expected(value):
            complaint = f"{name} does not show its value"
            conditions.append(terms.condition("check_control_value", complaint, text=name, value=value))
    for effect in effects.essential:
        if effect.area == "window":
            conditions += _window(terms, effect)
    for text in filter(terms.is_expected, effects.appeared):
        conditions.append(_shown(terms, text))
        conditions += _times(terms, text)
    for text in effects.canvases:
        if _is_only_parameters(terms.text(text)):
            complaint = f"something else than {text} is on the canvas"
            conditions.append(terms.condition("check_canvas", complaint, text=text))
    for text in filter(terms.is_expected, effects.vanished):
        complaint = f"{text} is still shown"
        conditions.append(
            replace(terms.condition("check_text_exists_via_control", complaint, text=text), negated=True)
        )
    conditions.sort(key=lambda item: (not item.parameters, item.negated))
    return conditions


def _shown(terms: Terms, text: str) -> Condition:
    """The condition that a text is shown; exactly, if it is only parameters and not just in an input."""
    exact = _is_only_parameters(terms.text(text)) and text in terms.performance.effects.labels
    arguments = {"exact": True} if exact else {}
    return terms.condition("check_text_exists_via_control", f"{text} is not shown", text=text, **arguments)


def _is_only_parameters(text: Expression) -> bool:
    """Whether a text consists of whole parameters only."""
    return bool(text.parameters) and all(
        form == "whole" or (not form and not part.strip()) for form, part in text.parts
    )


def _times(terms: Terms, text: str) -> Iterator[Condition]:
    """How often a text that equals a parameter is shown, for work that leaves no other trace."""
    effects = terms.performance.effects
    has_lasting_effects = any(item.area in LASTING for item in effects.essential)
    is_parameter = [form for form, _ in terms.text(text).parts] == ["whole"]
    if not has_lasting_effects and text in effects.shown_times and is_parameter:
        complaint = f"{text} is shown more often, or not at all"
        yield terms.condition("check_text_shown_times", complaint, text=text, times=effects.shown_times[text])


def _window(terms: Terms, effect: Effect) -> Iterator[Condition]:
    """The title, or the address: whole, and its endings with parameters, as folders vary with the data."""
    if effect.address == ("title",) and effect.after:
        yield terms.condition("check_window", "another window is in front", text=effect.after)
    if effect.address == ("address",):
        path = unquote(_ADDRESS.sub("", effect.after or ""))
        page = path.partition("?")[0]
        ends = [path[position:] for position, mark in enumerate(page) if position and mark == "/"]
        for text in (path, *(end for end in ends if terms.text(end).parameters)):
            if text and terms.is_expected(text.replace("+", " ")):
                yield terms.condition("check_window", "another page is in front", text=text)
