"""OSWorld's protocol over the same desktop, for other clients; errors are answered as OSWorld's server does.
Commands run as the machine's user and may import the machine's `pyautogui` and `pyperclip`."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from xml.etree.ElementTree import Element, SubElement, tostring

from taskloom.environments.platforms.linux_desktop.server import programs
from taskloom.environments.platforms.linux_desktop.server.desktop import Desktop
from taskloom.environments.platforms.linux_desktop.server.display import Window
from taskloom.environments.platforms.linux_desktop.server.trees import (
    ROLE_TAGS,
    Forest,
    Node,
    Reference,
    Role,
    State,
)

Answer = tuple[int, str, bytes]
"""Status, type and content."""

_MODULES = "/opt/machine/modules"
_NAMESPACES = {
    name: f"https://accessibility.ubuntu.example.org/ns/{name}"
    for name in ("attributes", "state", "component", "document", "application", "text", "value", "action")
}
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Characters that XML does not allow."""


def answer(desktop: Desktop, path: str, body: bytes, kind: str) -> Answer:
    """The answer to a request."""
    handler = _HANDLERS.get(path)
    if handler is None:
        return json_answer({"status": "error", "message": f"there is no {path} here"}, 404)
    return handler(desktop, _fields(body, kind))


def _fields(body: bytes, kind: str) -> dict[str, Any]:
    """The fields of a request: JSON, or a form in either encoding; files are bytes."""
    if kind.startswith("application/json"):
        fields = json.loads(body or b"{}")
        return fields if isinstance(fields, dict) else {}
    if kind.startswith("multipart/form-data"):
        message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
        form: dict[str, Any] = {}
        for part in message.iter_parts():
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            name = str(part.get_param("name", "", header="content-disposition"))
            form[name] = content if part.get_filename() is not None else content.decode()
        return form
    return {name: values[-1] for name, values in parse_qs(body.decode(errors="replace")).items()}


def _execute(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    return _run(fields["command"], shell=bool(fields.get("shell")))


def _run_python(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    return _run(["python3", "-c", fields["code"]], seconds=float(fields.get("timeout", 30)))


def _run_script(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    folder = str(fields.get("working_dir") or "")
    return _run(["bash", "-c", fields["script"]], seconds=float(fields.get("timeout", 100)), folder=folder)


def _run(command: str | list[str], *, shell: bool = False, seconds: float = 120, folder: str = "") -> Answer:
    command = _prepare_command(command, shell)
    code, output, errors = programs.run(
        command, shell=shell, seconds=seconds, folder=folder, variables={"PYTHONPATH": _MODULES}
    )
    if code == 127 and not output:
        return json_answer({"status": "error", "message": errors}, 500)
    status = "error" if code else "success"
    return json_answer(
        {"status": status, "output": output, "error": errors, "returncode": code, "message": errors}
    )


def _prepare_command(command: str | list[str], shell: bool) -> str | list[str]:
    if isinstance(command, str):
        return command if shell else command.split()
    words = [_expand(word) for word in command]
    return " ".join(words) if shell else words


def _launch(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    shell = bool(fields.get("shell"))
    command = _prepare_command(fields["command"], shell)
    try:
        subprocess.Popen(
            command,
            shell=shell,
            cwd=programs.HOME,
            env=programs.user_variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return json_answer({"status": "error", "message": str(error)}, 500)
    return _text(f"{command if isinstance(command, str) else ' '.join(command)} launched successfully")


def _open_file(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    path = _path(fields["path"])
    if not path.exists():
        return _text(f"File not found: {path}", 404)
    subprocess.Popen(["gio", "open", str(path)], start_new_session=True)
    return _text("File opened successfully")


def _file(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    path = _path(fields.get("file_path", ""))
    if not path.is_file():
        return json_answer({"error": "File not found"}, 404)
    return 200, "application/octet-stream", path.read_bytes()


def _upload(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    path, content = _path(fields["file_path"]), fields["file_data"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else str(content).encode())
    return _text("File Uploaded")


def _list_directory(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    path = _path(fields["path"])
    if not path.is_dir():
        return json_answer({"error": "The provided path is not a directory"}, 400)
    return json_answer({"directory_tree": _tree(path)})


def _tree(path: Path) -> dict[str, Any]:
    if path.is_dir() and not path.is_symlink():
        children = [_tree(child) for child in sorted(path.iterdir())]
        return {"type": "directory", "name": path.name, "children": children}
    return {"type": "file", "name": path.name}


def _window_size(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    found = [window for window in desktop.screen.windows() if window.name == fields.get("app_class_name")]
    if not found:
        return json_answer({"error": "No window found"}, 404)
    return json_answer({"width": found[-1].box[2], "height": found[-1].box[3]})


def _act_on_window(
    desktop: Desktop, fields: Mapping[str, Any], action: Callable[[Window], None], message: str
) -> Answer:
    wanted, strict = str(fields["window_name"]), bool(fields.get("strict"))

    def fits(window: Window) -> bool:
        name = window.name if fields.get("by_class") else window.title
        return name == wanted if strict else wanted.lower() in name.lower()

    found = [window for window in desktop.screen.windows() if not window.popup and fits(window)]
    if not found:
        return _text("No such window", 404)
    action(found[-1])
    return _text(message)


def _desktop_path(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    path = programs.HOME / "Desktop"
    return (
        json_answer({"desktop_path": str(path)})
        if path.is_dir()
        else json_answer({"error": "not found"}, 404)
    )


def _accessibility(desktop: Desktop, fields: Mapping[str, Any]) -> Answer:
    forest = desktop.in_loop(desktop.accessibility.forest())
    return json_answer({"AT": as_xml(forest)})


def as_xml(forest: Forest) -> str:
    """The control trees as OSWorld's server sends them: roles are tags, properties are attributes."""
    children: dict[Reference, list[Node]] = {}
    root = Element("desktop-frame")
    pending: list[tuple[Node, Element]] = []
    for node in forest.nodes.values():
        if node.role == Role.APPLICATION or node.parent == node.reference:
            pending.append((node, root))
        else:
            children.setdefault(node.parent, []).append(node)
    while pending:
        node, above = pending.pop()
        tag = ROLE_TAGS[node.role] if node.role < len(ROLE_TAGS) else "unknown"
        element = SubElement(above, tag, {"name": _ILLEGAL.sub("", node.name)})
        for state in State:
            if node.has(state):
                element.set(f"{{{_NAMESPACES['state']}}}{state.name.lower().replace('_', '-')}", "true")
        if node.box is not None:
            left, top, width, height = node.box
            element.set(f"{{{_NAMESPACES['component']}}}screencoord", f"({left}, {top})")
            element.set(f"{{{_NAMESPACES['component']}}}size", f"({width}, {height})")
        if node.value is not None:
            element.set(f"{{{_NAMESPACES['value']}}}value", f"{node.value:g}")
        if node.text:
            element.text = _ILLEGAL.sub("", node.text)
        pending += [(child, element) for child in children.get(node.reference, ())]
    return tostring(root, encoding="unicode")


def _path(text: str) -> Path:
    return Path(_expand(text))


def _expand(word: str) -> str:
    """A word of a command with its tilde and variables expanded."""
    text = os.path.expandvars(word)
    return f"{programs.HOME}{text[1:]}" if text == "~" or text.startswith("~/") else text


def json_answer(document: object, status: int = 200) -> Answer:
    """An answer as JSON."""
    return status, "application/json", json.dumps(document).encode()


def _text(text: str, status: int = 200) -> Answer:
    return status, "text/plain; charset=utf-8", text.encode()


_HANDLERS: dict[str, Callable[[Desktop, Mapping[str, Any]], Answer]] = {
    "/platform": lambda desktop, fields: _text("Linux"),
    "/screenshot": lambda desktop, fields: (200, "image/png", desktop.screen.png()),
    "/accessibility": _accessibility,
    "/terminal": lambda desktop, fields: json_answer({"output": None, "status": "success"}),
    "/execute": _execute,
    "/setup/execute": _execute,
    "/run_python": _run_python,
    "/run_python_script": _run_python,
    "/run_bash_script": _run_script,
    "/setup/launch": _launch,
    "/setup/open_file": _open_file,
    "/screen_size": lambda desktop, fields: json_answer(
        {"width": desktop.screen.size[0], "height": desktop.screen.size[1]}
    ),
    "/window_size": _window_size,
    "/desktop_path": _desktop_path,
    "/list_directory": _list_directory,
    "/file": _file,
    "/setup/upload": _upload,
    "/setup/activate_window": lambda desktop, fields: _act_on_window(
        desktop, fields, desktop.screen.activate, "Window activated successfully"
    ),
    "/setup/close_window": lambda desktop, fields: _act_on_window(
        desktop, fields, desktop.screen.close, "Window closed successfully."
    ),
    "/cursor_position": lambda desktop, fields: json_answer(desktop.inputs.position()),
}
