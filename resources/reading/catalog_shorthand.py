"""Short ways to write catalogue entries, expanded before validation.

- a resource: `csv_path` for `{category: csv_path, parameter: csv_path}`; the parameter is left out where the
  subtask has none of that name (a bare slot such as `text_in_clipboard`)
- a step: `{click: Save}`, `{double_click: Save}`, `{right_click: Save}`, `{type: "^s"}`, `{type: x, into:
  Name}`, `{wheel: -3, over: List}`, `{drag: Canvas, path: [[0.1, 0.1], [0.5, 0.5]]}`, `{wait: 0.5}`, each
  with the further fields of a step beside it
- a control: `Save` for `{text: Save}`
"""

from collections.abc import Mapping

_POINTER: dict[str, dict[object, object]] = {
    "click": {},
    "double_click": {"double": True},
    "right_click": {"button": "right"},
}


def expand_application(content: object) -> object:
    """The entry with every shorthand written out; what is not understood is left for validation to report."""
    if not isinstance(content, dict) or not isinstance(content.get("example_subtasks"), list):
        return content
    return {**content, "example_subtasks": [_expand_subtask(item) for item in content["example_subtasks"]]}


def _expand_subtask(content: object) -> object:
    if not isinstance(content, dict):
        return content
    sets = content.get("parameter_sets")
    first = sets[0] if isinstance(sets, list) and sets and isinstance(sets[0], dict) else {}
    expanded: dict[object, object] = dict(content)
    for direction in ("inputs", "outputs"):
        if isinstance(content.get(direction), list):
            expanded[direction] = [expand_resource(item, first) for item in content[direction]]
    for way in ("worked_example", "second_example"):
        if isinstance(content.get(way), list):
            expanded[way] = [expand_step(item) for item in content[way]]
    return expanded


def expand_resource(content: object, parameters: Mapping[str, object]) -> object:
    """The full form of a declared resource.

    >>> expand_resource("csv_path", {"csv_path": "a.csv"})
    {'category': 'csv_path', 'parameter': 'csv_path'}
    >>> expand_resource("text_in_clipboard", {})
    {'category': 'text_in_clipboard'}
    """
    declared = {"category": content} if isinstance(content, str) else content
    if not isinstance(declared, dict):
        return content
    if "parameter" not in declared and declared.get("category") in parameters:
        return {**declared, "parameter": declared["category"]}
    return declared


def expand_step(content: object) -> object:
    """The full form of a worked step.

    >>> expand_step({"type": "^a{name}", "into": "File name"})
    {'operation': 'keyboard_input', 'keys': '^a{name}', 'control': {'text': 'File name'}}
    """
    if not isinstance(content, dict):
        return content
    rest = dict(content)
    expanded: dict[object, object] = {}
    for word, fields in _POINTER.items():
        if word in rest:
            expanded |= {"operation": "click_input", "control": _control(rest.pop(word)), **fields}
    if "type" in rest:
        expanded |= {"operation": "keyboard_input", "keys": rest.pop("type")}
        if "into" in rest:
            expanded["control"] = _control(rest.pop("into"))
    if "wheel" in rest:
        expanded |= {"operation": "wheel_mouse_input", "wheel_distance": rest.pop("wheel")}
        if "over" in rest:
            expanded["control"] = _control(rest.pop("over"))
    if "drag" in rest:
        expanded |= {"operation": "drag_input", "control": _control(rest.pop("drag"))}
    if "wait" in rest:
        expanded |= {"operation": "wait", "seconds": rest.pop("wait")}
    expanded |= rest
    if "control" in rest:
        expanded["control"] = _control(rest["control"])
    return expanded


def _control(content: object) -> object:
    return {"text": content} if isinstance(content, str) else content
