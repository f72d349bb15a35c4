"""OmniACT: lists (`train.json`, `test.json`) of examples with `task`, `image` and `box` files.

A task file has the lines `Task:` and `Output Script:`; the script is PyAutoGUI code with pixels of the
screenshot. An example is one task on one screen; its trajectory is imported if every statement is an action
here.
"""

import ast
from pathlib import Path, PurePosixPath

from pydantic import JsonValue

from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import Description, read_picture, read_tasks
from taskloom.warehouse.importing.items import ForeignModel, Item, Items, Records, Text, items_of
from taskloom.warehouse.importing.json_reading import file_inside, parse_json, read_text
from taskloom.warehouse.importing.pyautogui_scripts import action_of_script

_MAX_BOXES = 5000
_LISTS = ("train.json", "val.json", "validation.json", "test.json")


class _Example(ForeignModel):
    task: Text
    image: Text
    box: str = ""


def read(path: Path) -> Records:
    """The examples of a list, or of the lists of a folder."""
    files = [path] if path.is_file() else [path / name for name in _LISTS if (path / name).is_file()]
    root = path.parent if path.is_file() else path
    if not files:
        raise ImportRefusedError(str(path), "", f"holds none of {', '.join(_LISTS)}")

    yield from read_tasks("omniact", _items(files), _name, lambda item: _describe(item, root))


def _items(files: list[Path]) -> Items:
    for item in items_of(((file, file.name) for file in files), one_each=True):
        if isinstance(item, Item) and isinstance(item.value, dict):
            for name, value in item.value.items():
                yield Item(item.file, value, name)
        else:
            yield item


def _name(item: Item) -> str:
    return f"{Path(item.file).stem}/{item.place}"


def _describe(item: Item, root: Path) -> Description:
    example = item.parse(_Example)
    target = file_inside(root, example.task)
    if target is None:
        raise item.refusal("task", f"the file {example.task[:200]!r} does not exist")
    instruction, script = _split_task_file(item, read_text(target, example.task))
    content: dict[str, JsonValue] = {
        **(item.value if isinstance(item.value, dict) else {}),
        "task_text": f"Task: {instruction}\nOutput Script:\n{script}\n",
    }
    if example.box:
        content["boxes"] = _boxes(root, example.box)
    folders = PurePosixPath(example.image).parts[:-1]
    picture = read_picture(root, example.image)
    return Description(
        instruction,
        folders[-1:] if len(folders) > 2 else ("desktop",),
        content=content,
        steps=[
            (picture, action_of_script(statement, picture, fractions=False))
            for statement in _statements(script)
        ],
    )


def _boxes(root: Path, name: str) -> JsonValue:
    target = file_inside(root, name)
    try:
        value = parse_json(read_text(target, name), name) if target is not None else None
    except ImportRefusedError:
        return []
    boxes: list[JsonValue] = []
    for box in value.values() if isinstance(value, dict) else ():
        corners = (
            [box.get(corner) for corner in ("top_left", "bottom_right")] if isinstance(box, dict) else []
        )
        numbers = [side for corner in corners if isinstance(corner, list) for side in corner]
        if len(numbers) == 4 and all(isinstance(side, int | float) for side in numbers):
            boxes.append(numbers)
    return boxes[:_MAX_BOXES]


def _split_task_file(item: Item, text: str) -> tuple[str, str]:
    head, separator, script = text.partition("Output Script:")
    instruction = head.strip().removeprefix("Task:").strip()
    if not separator or not instruction:
        raise item.refusal("task", "its file must have the lines Task: and Output Script:")
    return instruction, script.strip()


def _statements(script: str) -> list[str]:
    try:
        return [ast.unparse(statement) for statement in ast.parse(script).body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [script]
