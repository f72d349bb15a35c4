"""Proposing subtasks from what the screens show: every form is something to create, every button of a row
something to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from tests.servers.models.behaviour import WireCall
from tests.servers.models.careless.prompt_reading import Seen, SeenPage, listed, pages_in, slug

_MOST = 5
"""Proposals of one reply, as of a model that gets tired."""
_WORDS = (("Harbour", "Orchard"), ("Lantern", "Meadow"), ("Compass", "Thicket"), ("Granite", "Willow"))
_FILLED = ("Edit", "Document", "SpinButton", "ComboBox")
_PRESSED = ("Button", "Hyperlink", "CheckBox")
_BESIDE = re.compile(r"search|password|filter|regex|login|log in|upload|browse", re.IGNORECASE)
_COMMITS = re.compile(r"^(save|add|create|send|submit|apply)\b", re.IGNORECASE)
_DESTROYS = re.compile(r"delete|remove", re.IGNORECASE)
_NAMES = re.compile(r"title|name|subject|label", re.IGNORECASE)


def explore(call: WireCall) -> JsonValue:
    """The explorer's reply."""
    shown = call.turns[0]
    declared = listed(shown, "Declare inputs and outputs")
    application = slug(re.search(r"\(`([^`]+)`, category", call.system)[1])  # type: ignore[index]
    known_names = set(re.findall(r"^- `(\w+)` \(", call.system, re.MULTILINE))
    if declared:
        return {"subtasks": [_declaration(json.loads(item), application, known_names) for item in declared]}
    revised = listed(shown, "Earlier proposals were rejected")
    if revised:
        return {"subtasks": []}
    verified = listed(shown, "Values that these make")
    known = {item.partition("`: ")[2].partition(" (makes ")[0] for item in verified}
    rejected = listed(shown, "Rejected earlier")
    known |= {item.partition("`: ")[2].rpartition(" (")[0] for item in rejected}
    proposals = [
        item for item in _proposals(pages_in(shown), application) if item["instruction_template"] not in known
    ]
    chosen = proposals[:_MOST]
    category: JsonValue = {
        "name": _category(application),
        "kind": "record",
        "description": f"An entry that {application} keeps, by the name it is listed under.",
    }
    for item in chosen:
        item.update(_declaration(item, application, {*known_names, _category(application)}))
    new: list[JsonValue] = [] if _category(application) in known_names else [category]
    return {"subtasks": list(chosen), "categories": new}


def _proposals(pages: list[SeenPage], application: str) -> Iterator[dict[str, JsonValue]]:
    pages = [page for page in pages if not page.by_buttons]
    forms = [(page, fields, button) for page in pages for fields, button in _forms(page)]
    names: list[tuple[str, str]] = []
    for number, (page, fields, button) in enumerate(forms):
        proposal, identity = _creation(page, fields, button, number, application)
        if _makes_entries(page.path):
            names.append(identity)
        yield proposal
    for page in pages:
        rows = list(dict.fromkeys(item.row for item in page.controls if item.row and item.type in _PRESSED))
        done: set[str] = set()
        for item in page.controls:
            if not item.row or item.type != "Button" or not item.text or item.text in done or item.disabled:
                continue
            done.add(item.text)
            yield _on_row(page, item.text, rows, None, application)
            if names and not page.path:
                yield _on_row(page, item.text, rows, names[0], application)


def _forms(page: SeenPage) -> Iterator[tuple[list[Seen], Seen]]:
    fields: list[Seen] = []
    for item in page.controls:
        if item.row or item.disabled or _BESIDE.search(item.text):
            continue
        if item.type in _FILLED and item.text and item.type != "ComboBox":
            fields.append(item)
        elif item.type == "Button" and fields and item.text:
            yield fields[:3], item
            fields = []
    commit = next(
        (item for item in page.controls if item.type == "Button" and _COMMITS.search(item.text)), None
    )
    if fields and commit is not None and not commit.row:
        yield fields[:3], commit


def _creation(
    page: SeenPage, fields: list[Seen], button: Seen, number: int, application: str
) -> tuple[dict[str, JsonValue], tuple[str, str]]:
    names = {slug(item.text): item.text for item in fields}
    parts = [f"set '{text}' to '{{{name}}}'" for name, text in names.items()]
    template = "; ".join([*_way(page), *parts, f"press '{button.text}'"])
    words = _WORDS[number % len(_WORDS)]
    sets = [[{"name": name, "value": _value(text, word)} for name, text in names.items()] for word in words]
    identity = next((name for name, text in names.items() if _NAMES.search(text)), next(iter(names)))
    name = slug("_".join([button.text, *page.path[-1:], "form"]))
    proposal: dict[str, JsonValue] = {
        "name": name,
        "instruction_template": template[0].upper() + template[1:] + ".",
        "parameter_sets": [[dict(item) for item in values] for values in sets],
        "inputs": [],
        "outputs": [],
        "fresh": list(names),
    }
    values = tuple(next(item["value"] for item in given if item["name"] == identity) for given in sets)
    return proposal, (values[0], values[1])


def _on_row(
    page: SeenPage, button: str, rows: list[str], made: tuple[str, str] | None, application: str
) -> dict[str, JsonValue]:
    template = "; ".join([*_way(page), f"press '{button}' in the row '{{entry}}'"])
    template = template[0].upper() + template[1:] + (", an entry made before." if made else ".")
    values = made or tuple(rows[:2])
    return {
        "name": slug(f"{button}_{'made' if made else 'row'}"),
        "instruction_template": template,
        "parameter_sets": [[{"name": "entry", "value": value}] for value in values],
        "inputs": [],
        "outputs": [],
        "fresh": [],
    }


def _way(page: SeenPage) -> list[str]:
    return [f"go to '{name}'" for name in page.path]


def _value(field: str, word: str) -> str:
    text = field.lower()
    if "file" in text:
        return f"Documents/{word.lower()}.txt"
    if "mail" in text or "sender" in text:
        return f"{word.lower()}@example.org"
    if "url" in text or "address" in text or "link" in text:
        return f"https://{word.lower()}.example/page"
    if re.search(r"hour|minute|number|count|days|port", text):
        return str(5 + len(word))
    return f"{word} {slug(field).split('_')[0]}"


def _category(application: str) -> str:
    return f"{application}_entry"


def _declaration(subtask: dict[str, JsonValue], application: str, known: set[str]) -> dict[str, JsonValue]:
    """What one look at a subtask declares; an independent look thinks the same way again."""
    template = str(subtask["instruction_template"])
    inputs: list[JsonValue] = []
    outputs: list[JsonValue] = []
    own = _category(application)
    named = [slug(text) for text, _ in re.findall(r"[Ss]et '([^']*)' to '\{(\w+)\}'", template)]
    files = [name for name in named if "file" in name]
    if "an entry made before" in template and own in known:
        consumed = bool(_DESTROYS.search(template))
        inputs = [{"category": own, "parameter": "entry", "consumed": consumed}]
    elif files:
        outputs = [{"category": "text_path", "parameter": files[0], "consumed": False}]
    elif named and own in known and _makes_entries(re.findall(r"[Gg]o to '([^']*)'", template)):
        identity = next((name for name in named if _NAMES.search(name)), named[0])
        outputs = [{"category": own, "parameter": identity, "consumed": False}]
    return {"name": subtask["name"], "inputs": inputs, "outputs": outputs}


def _makes_entries(path: Iterable[str]) -> bool:
    """Whether a form makes what the application is about: it stands on the first page, or on one for new
    things."""
    names = list(path)
    return not names or any(re.search(r"new|add|create", name, re.IGNORECASE) for name in names)
