"""Writing evaluation functions: at first far too weak ones, after criticism from the records that the
performances share, which it has watched though it is not shown them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from taskloom.prompts.inputs import EvaluationWriterInput, Performance
from tests.servers.models.behaviour import WireCall

_DEFAULT = re.compile(r"0|[A-Za-z]+")
Record = dict[str, JsonValue]
_WATCHED: dict[str, tuple[Performance, ...]] = {}
"""Performances by the prompt that tells of them."""


def watch(question: EvaluationWriterInput) -> None:
    """Remember the performances that a prompt tells of."""
    _WATCHED[question.rendered().user] = question.performances


def write(call: WireCall) -> JsonValue:
    """The writer's reply."""
    shown = call.turns[0]
    names = json.loads(shown.partition("### Parameters, in order\n")[2].partition("\n")[0])
    criticism = shown.partition("### Your last function")[2]
    if not criticism:
        return {"source": _function(names, [f"check_any_file_contains({name})" for name in names])}
    conditions = list(dict.fromkeys(_conditions(_WATCHED[shown])))
    if "conditions = [" in criticism and "check_any_file_contains" not in criticism.partition("```\n")[0]:
        fresh = "check_file_changed" if "untouched_product" in criticism else "nothing"
        conditions = [item for item in conditions if f"({item}, " in criticism or item.startswith(fresh)]
    dropped = re.findall(
        r"(?:leave them out|fails these of its conditions): (.*)\.$", criticism, re.MULTILINE
    )
    kept = [
        item
        for item in conditions
        if not any(_same(item, part) for line in dropped for part in line.split("; "))
    ]
    return {"source": _function(names, kept or conditions)}


def _same(condition: str, complaint: str) -> bool:
    """Whether a complaint is about the condition: it quotes the call."""
    return re.sub(r"[\s\"'{}]", "", condition) in re.sub(r"[\s\"'{}]", "", complaint)


def _conditions(seen: Sequence[Performance]) -> Iterator[str]:
    parameters = [item.parameters for item in seen]
    records = [[record.model_dump(mode="json") for record in item.effects.records] for item in seen]
    paths = [{str(item["file_path"]) for item in found} for found in records]
    fixed = set.intersection(*paths) if paths else set()
    for record in records[0] if records else ():
        alike = [_partner(record, others, fixed) for others in records]
        fields = _fields(record, alike, parameters)
        path = str(record["file_path"]) if record["file_path"] in fixed else ""
        within = f", within={record['within']!r}" if record["within"] else ""
        if fields:
            said = "{" + ", ".join(f"{name!r}: {value}" for name, value in fields.items()) + "}"
            if record["kind"] == "removed":
                yield f"get_record_path({said}, at_start=True).startswith({_shared_folder(alike)!r})"
                yield f"check_record_count({path!r}, {said}, 0{within})"
                if not path:
                    yield f"check_file_missing(get_record_path({said}, at_start=True))"
            elif record["kind"] == "added":
                yield f"check_record_added({path!r}, {said}{within})"
            else:
                yield f"check_record({path!r}, {said}{within})"
                yield f"check_file_changed({repr(path) if path else f'get_record_path({said})'})"
    appeared = [set(item.effects.appeared) for item in seen]
    places, contents = _files(seen, parameters)
    if not any(records) and not places and appeared:
        for text in sorted(set.intersection(*appeared)):
            yield f"check_text_exists_via_control({text!r})"
        for name in parameters[0]:
            yield f"check_text_exists_via_control({name})"
    yield from contents
    if not any(records):
        yield from (f"check_file_changed({place})" for place in places)


def _shared_folder(alike: list[Record]) -> str:
    """The folder that records of all performances lie below."""
    parts = [str(item["file_path"]).split("/")[:-1] for item in alike]
    shared = [names[0] for names in zip(*parts, strict=False) if len(set(names)) == 1]
    return "".join(f"{name}/" for name in shared)


def _files(seen: Sequence[Performance], parameters: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    """Files that all performances touch, and what they must hold, as source in terms of the parameters."""
    touched = [item.effects.essential for item in seen]
    places: dict[str, None] = {}
    contents: dict[str, None] = {}
    for position, effect in enumerate(touched[0] if touched else ()):
        if effect.area not in ("file", "directory"):
            continue
        alike = [found[position] for found in touched if position < len(found)]
        source = _named([item.container for item in alike], parameters)
        if source is None:
            continue
        places[source] = None
        texts = [item.after for item in alike if item.after]
        value = _named(texts, parameters) if len(texts) == len(alike) else None
        if value is not None and effect.kind == "added" and not effect.address:
            contents[f"check_file_text({source}, {value})"] = None
        elif effect.after and value is None and effect.kind == "added":
            contents[f"check_file_exists({source})"] = None
    return list(places), list(contents)


def _named(values: list[str], parameters: list[dict[str, str]]) -> str | None:
    """Values of all performances as one source: a parameter, or the text that they share."""
    for name in parameters[0]:
        if all(value == given[name] for value, given in zip(values, parameters, strict=False)):
            return name
    return repr(values[0]) if len(set(values)) == 1 else None


def _partner(record: Record, others: list[Record], fixed: set[str]) -> Record:
    """The record of another performance that plays the same part."""
    for other in others:
        same_file = other["file_path"] == record["file_path"] or record["file_path"] not in fixed
        same_part = (other["kind"], other["within"], other["changed_fields"]) == (
            record["kind"],
            record["within"],
            record["changed_fields"],
        )
        if same_file and same_part:
            return other
    return record


def _fields(record: Record, alike: list[Record], parameters: list[dict[str, str]]) -> dict[str, str]:
    """Fields worth asking for, as source: a parameter's name, or the value that all performances share."""
    found: dict[str, str] = {}
    values = record["fields"]
    assert isinstance(values, dict)
    changed = record["changed_fields"]
    for field, value in values.items():
        given = [str(item["fields"].get(field, "")) for item in alike if isinstance(item["fields"], dict)]
        for name in parameters[0]:
            if all(text == chosen[name] for text, chosen in zip(given, parameters, strict=True)):
                found[field] = name
        chosen_by_hand = isinstance(changed, list) and field in changed
        if field not in found and (chosen_by_hand or _is_default(record, given[0])) and len(set(given)) == 1:
            found[field] = repr(value)
    return found if any(not text.startswith(("'", '"')) for text in found.values()) else {}


def _is_default(record: Record, value: str) -> bool:
    """Whether a new row has the value because nobody chose another: zero, or a word."""
    return record["kind"] == "added" and _DEFAULT.fullmatch(value) is not None


def _function(names: list[str], conditions: list[str]) -> str:
    rows = "".join(f"        ({item}, {item.partition('(')[0]!r}),\n" for item in conditions)
    return (
        f"def evaluate_agent_task_completion({', '.join(f'{name}: str' for name in names)}) -> EvalResult:\n"
        f"    conditions = [\n{rows}    ]\n"
        "    failed = [words for holds, words in conditions if not holds]\n"
        "    progress = (len(conditions) - len(failed)) / len(conditions)\n"
        "    return EvalResult(not failed, '; '.join(failed) or 'done', progress)\n"
    )
