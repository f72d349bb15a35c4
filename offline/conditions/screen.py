"""Conditions of what is shown, for work that leaves nothing else: states, then the window, then texts."""

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from taskloom.evaluators_api.state.effects import LASTING
from taskloom.offline.conditions.conditions import Condition, Expression, Terms
from taskloom.taskgraph.records.effect import Effect

_ADDRESS = re.compile(r"^\w+://[^/?#]*/?$|^\w+://[^/?#]*")
"""What stands before the path in the address of a page; all of it for a first page."""


def screen_conditions(terms: Terms) -> list[Condition]:
    """What is shown now and was not before; what a parameter names first."""
    effects = terms.performance.effects
    found = []
    for item in effects.origins:
        if item.kind == "opened":
            told = f"what {item.source} holds is not shown"
            found.append(terms.condition("check_drawing_shown", told, file_path=item.source))
    for path, part in effects.shown_parts:
        told = f"not all of {part} is shown"
        found.append(terms.condition("check_records_shown", told, file_path=path, part=part))
    for row, text in ((row, text) for row, texts in effects.rows.items() for text in texts):
        told = f"{row} does not show {text}"
        found.append(terms.condition("check_row_shows", told, row=row, text=text))
    for name, on in effects.switches.items():
        told = f"{name} is not {'on' if on else 'off'}"
        found.append(terms.condition("check_control_checked", told, text=name, checked=on))
    for name, value in effects.contents.items():
        if terms.plain(value):
            told = f"{name} does not show its value"
            found.append(terms.condition("check_control_value", told, text=name, value=value))
    for effect in effects.essential:
        if effect.area == "window":
            found += _window(terms, effect)
    for text in filter(terms.plain, effects.appeared):
        found.append(_shown(terms, text))
        found += _times(terms, text)
    for text in effects.canvases:
        if _is_given(terms.text(text)):
            told = f"something else than {text} is on the canvas"
            found.append(terms.condition("check_canvas", told, text=text))
    for text in filter(terms.plain, effects.vanished):
        told = f"{text} is still shown"
        found.append(replace(terms.condition("check_text_exists_via_control", told, text=text), negated=True))
    found.sort(key=lambda item: (not item.parameters, item.negated))
    return found


def _shown(terms: Terms, text: str) -> Condition:
    """That a text is shown; exactly, where only parameters say it and not just an input control shows it."""
    exact = _is_given(terms.text(text)) and text in terms.performance.effects.labels
    given = {"exact": True} if exact else {}
    return terms.condition("check_text_exists_via_control", f"{text} is not shown", text=text, **given)


def _is_given(text: Expression) -> bool:
    """Whether parameters say it, and nothing else does."""
    return bool(text.parameters) and all(
        form == "whole" or (not form and not part.strip()) for form, part in text.parts
    )


def _times(terms: Terms, text: str) -> Iterator[Condition]:
    """How often a text is shown that a parameter gives, of work that leaves nothing else."""
    effects = terms.performance.effects
    lasting = any(item.area in LASTING for item in effects.essential)
    whole = [form for form, _ in terms.text(text).parts] == ["whole"]
    if not lasting and text in effects.shown_times and whole:
        told = f"{text} is shown more often, or not at all"
        yield terms.condition("check_text_shown_times", told, text=text, times=effects.shown_times[text])


def _window(terms: Terms, effect: Effect) -> Iterator[Condition]:
    """The title, or the address: all of it, and ends that name parameters; folders differ with the data."""
    if effect.address == ("title",) and effect.after:
        yield terms.condition("check_window", "another window is in front", text=effect.after)
    if effect.address == ("address",):
        path = unquote(_ADDRESS.sub("", effect.after or ""))
        page = path.partition("?")[0]
        ends = [path[place:] for place, mark in enumerate(page) if place and mark == "/"]
        for text in (path, *(end for end in ends if terms.text(end).parameters)):
            if text and terms.plain(text.replace("+", " ")):
                yield terms.condition("check_window", "another page is in front", text=text)
