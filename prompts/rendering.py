"""Renders prompts. All templates are read together when the first is needed, because one that is edited
during a run might not fit the inputs of the code loaded before, or differ from call to call."""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, UndefinedError
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import JsonValue

from taskloom.resources.errors import TaskloomError
from taskloom.taskgraph.records.interaction import Control, Screenshot
from taskloom.taskgraph.records.model_calls import RenderedPrompt

_LONGEST_TEXT = 120
_LONGEST_VALUE = 400
_UNTYPED = frozenset({"Text", "DataItem"})
_READ_ONLY = frozenset({"Text", "DataItem", "Header", "Heading", "Image"})
_NAMELESS = frozenset({"Text", "DataItem", "Header", "Heading", "Image", "List", "Table", "Group", "Region"})
_TASK_BAR = "TaskBarButton"


def control_lines(values: Iterable[Mapping[str, JsonValue] | Control]) -> str:
    r"""The controls in reading order, with the task bar in one line at the end.

    Plain texts are listed without their type. The row of usable controls is named, a section or parent only
    where it distinguishes equal controls. Empty containers are omitted.

    >>> place = {"left": 0, "top": 0, "right": 9, "bottom": 9}
    >>> edit = {"label": "5", "text": "Edit", "control_type": "Hyperlink", "row": "Hours", "rectangle": place}
    >>> saved = {"label": "6", "text": "Saved", "control_type": "Text", "rectangle": place}
    >>> print(control_lines([edit, saved]))
    [5] Hyperlink "Edit" in row "Hours"
    [6] "Saved"
    """
    controls = [Control.model_validate(value) for value in values]
    page = [control for control in controls if control.control_type != _TASK_BAR and not _is_empty(control)]
    counts = Counter(_appearance(control) for control in page)
    lines = [_line(control, ambiguous=counts[_appearance(control)] > 1) for control in page]
    buttons = [control for control in controls if control.control_type == _TASK_BAR]
    return "\n".join([*lines, *([_task_bar_line(buttons)] if buttons else [])])


def _line(control: Control, *, ambiguous: bool) -> str:
    parts = [f"[{control.label}]"]
    if control.control_type not in _UNTYPED:
        parts.append(control.control_type)
    if control.text:
        parts.append(_quoted(control.text, _LONGEST_TEXT))
    if control.value and control.value != control.text:
        parts.append(f"= {_quoted(control.value, _LONGEST_VALUE)}")
    if control.checked is not None:
        parts.append("on" if control.checked else "off")
    states = {"disabled": control.disabled, "focused": control.focused}
    parts += [name for name, holds in states.items() if holds]
    if control.row and control.control_type not in _READ_ONLY:
        parts.append(f"in row {_quoted(control.row, _LONGEST_TEXT)}")
    elif ambiguous and control.parent_text and control.control_type not in _READ_ONLY:
        parts.append(f"in {control.parent_type} {_quoted(control.parent_text, _LONGEST_TEXT)}".strip())
    if ambiguous and control.section and control.control_type not in _READ_ONLY:
        parts.append(f"under {_quoted(control.section, _LONGEST_TEXT)}")
    return " ".join(parts)


def _task_bar_line(buttons: Sequence[Control]) -> str:
    entries = [
        f"[{button.label}] {_quoted(button.text, _LONGEST_TEXT)}{' in front' if button.checked else ''}"
        for button in buttons
    ]
    return f"{_TASK_BAR}: {', '.join(entries)}"


def _appearance(control: Control) -> tuple[str, str, str]:
    return (control.control_type, control.text, control.row)


def _is_empty(control: Control) -> bool:
    return control.control_type in _NAMELESS and not control.text and not control.value


def _quoted(text: str, longest: int) -> str:
    line = " ".join(text.split()) if longest == _LONGEST_TEXT else text
    if len(line) > longest:
        return json.dumps(line[:longest] + "…", ensure_ascii=False) + f" ({len(text)} characters)"
    return json.dumps(line, ensure_ascii=False)


class PromptError(TaskloomError):
    """Anything wrong with a prompt; never transient."""


class UnknownTemplateError(PromptError):
    """There is no template of that name; the message names the known ones."""


class TemplateBrokenError(PromptError):
    """The template cannot be rendered from its input; the message names the variable."""


_PARTS = ("system", "user")
_MARK = "\x00cached up to here\x00"
_MARK_NAME = "cached_up_to_here"
_LONGEST_BRIEF = 300
_LOG = logging.getLogger(__name__)


def render(
    template: str, values: Mapping[str, JsonValue], images: tuple[Screenshot, ...] = (), own: str = ""
) -> RenderedPrompt:
    """The prompt of `template` with `values`; the text `own` replaces its system part if given.

    Texts inside `values`, from whatever source, are inserted as data and never treated as templates.

    Raises:
        UnknownTemplateError: there is no such template.
        TemplateBrokenError: the template uses a variable that `values` lacks.
    """
    _warn_if_edited(template)
    prompt_hash = template_hash(template)
    try:
        filled = {**values, _MARK_NAME: _MARK}
        system, user = (_template(template, part).render(filled).strip() for part in _PARTS)
        if own:
            system = _environment().from_string(own).render(filled).strip()
            prompt_hash = hashlib.sha256(f"{prompt_hash}{own}".encode()).hexdigest()
    except UndefinedError as error:
        raise TemplateBrokenError(f"prompt template {template!r}: {error.message}") from error
    return RenderedPrompt(
        system=system,
        user=user.replace(_MARK, "", 1),
        stable=max(0, user.find(_MARK)),
        images=images,
        template_hash=prompt_hash,
    )


def check_own_prompt(text: str, known: Collection[str]) -> None:
    """Check that `text` is a template that uses only `known` variables.

    Raises:
        TemplateBrokenError: it is not; the line or the variable is named.
    """
    try:
        used = find_undeclared_variables(_environment().parse(text))
    except TemplateSyntaxError as error:
        raise TemplateBrokenError(f"line {error.lineno}: {error.message}") from None
    if used - set(known):
        raise TemplateBrokenError(
            f"there is no variable {min(used - set(known))!r}; known: {', '.join(sorted(known))}"
        )


def template_names() -> tuple[str, ...]:
    """Names of all templates, sorted."""
    return tuple(sorted(entry.name for entry in _folder().iterdir() if entry.is_dir()))


@cache
def template_hash(name: str) -> str:
    """SHA-256 of the source of a template, so that a changed prompt changes the call."""
    return hashlib.sha256("\0".join(_source(name, part) for part in _PARTS).encode()).hexdigest()


def _folder() -> Traversable:
    return files("taskloom.prompts") / "templates"


@cache
def _read_once(place: str) -> Mapping[tuple[str, str], str]:
    """The sources of all templates, as they are when the first one in the folder at `place` is needed."""
    folder = _folder()
    return {
        (entry.name, part): text
        for entry in folder.iterdir()
        if entry.is_dir()
        for part in _PARTS
        if (text := _read_text(folder, entry.name, part)) is not None
    }


def _read_text(folder: Traversable, name: str, part: str) -> str | None:
    file = folder / name / f"{part}.md.jinja"
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _warn_if_edited(name: str) -> None:
    """Warn once that a template has changed and that this process keeps the version that it read."""
    folder = _folder()
    if name not in _edited and any(
        _read_text(folder, name, part) != _read_once(str(folder)).get((name, part)) for part in _PARTS
    ):
        _edited.add(name)
        advice = "the run keeps the version that it started with; the next run uses the new one"
        _LOG.warning("prompt template %r was edited during this run: %s", name, advice)


_edited: set[str] = set()


def _source(name: str, part: str) -> str:
    text = _read_once(str(_folder())).get((name, part))
    if text is None:
        known = ", ".join(template_names())
        raise UnknownTemplateError(f"there is no prompt template {name!r}; known: {known}")
    return text


def brief(text: str) -> str:
    r"""A text in one line; a long one is cut and ends with "…".

    >>> brief("Save\nit.")
    'Save it.'
    >>> len(brief("word " * 1000)) < 320
    True
    """
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_BRIEF else f"{line[:_LONGEST_BRIEF].rstrip()}…"


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    as_json = partial(json.dumps, ensure_ascii=False)
    environment.filters |= {"json": as_json, "brief": brief, "control_lines": control_lines}
    return environment


@cache
def _template(name: str, part: str) -> Template:
    return _environment().from_string(_source(name, part))
