"""The settings file, read strictly: anything ambiguous is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

from taskloom.flows.errors import CommandError

_MOST_BYTES = 1 << 20
_LONGEST_REASON = 200


def read_settings_file(file: Path) -> dict[str, Any]:
    """The names and values in a settings file.

    Raises:
        CommandError: it cannot be read, or holds something else.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"cannot read the settings file {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"the settings file {file} is not UTF-8 text") from None
    if len(content) > _MOST_BYTES:
        raise CommandError(f"the settings file {file} is larger than 1 MiB")
    values = parse_yaml(text, f"the settings file {file}")
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise CommandError(
            f"the settings file {file} must hold names and values, not a {type(values).__name__}"
        )
    return values


def parse_yaml(text: str, name: str) -> object:
    """The value of the YAML `text`; `name` is its name in messages.

    Raises:
        CommandError: it is not YAML, has a duplicate key, or uses aliases, which can expand a short text to a
            gigabyte.
    """
    parser = YAML(typ="safe")
    try:
        if "*" in text:
            for event in parser.parse(text):
                if isinstance(event, AliasEvent):
                    line = event.start_mark.line + 1
                    raise CommandError(
                        f"{name}, line {line}: aliases (*{event.anchor}) are not allowed; write the value out"
                    )
        return YAML(typ="safe").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}" if mark is not None else ""
        raise CommandError(f"{name}{place}: not valid YAML: {_shortened(error.problem)}") from None
    except (YAMLError, RecursionError, ValueError) as error:
        raise CommandError(f"{name}: not valid YAML: {_shortened(str(error))}") from None


def _shortened(reason: str | None) -> str:
    text = " ".join((reason or "it cannot be parsed").split())
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"
