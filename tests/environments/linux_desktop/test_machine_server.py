"""The server of a machine and its clients, over real sockets; the desktop behind it is played."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taskloom.environments.errors import EnvironmentBrokenError, RequestRefusedError
from taskloom.environments.machines.machine import ServerClient
from taskloom.environments.platforms.linux_desktop.server import programs
from taskloom.environments.platforms.linux_desktop.server.http_server import Handler, UnixServer
from tests.limits import LONGEST_SECONDS

MODULES = Path(programs.__file__).parents[1] / "image" / "modules"


class PlayedDesktop:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.inputs: list[dict[str, Any]] = []

    def make(self, told: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        self.inputs += told["inputs"]
        return {}, b""

    def pointer(self, told: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        return {"at": (3, 4)}, b""

    def observe(self, told: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if told.get("impossible"):
            raise RuntimeError("there is nothing to see")
        if told.get("broken"):
            raise OSError("the display is dead")
        return {"controls": []}, b"picture"


class Served:
    """A server that runs."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "server.sock"
        self.desktop = PlayedDesktop()
        self.ended = threading.Event()
        handler = type("PlayedHandler", (Handler,), {"desktop": self.desktop, "lifelines": []})
        handler.end = staticmethod(lambda code: self.ended.set())  # type: ignore[attr-defined]
        self.server = UnixServer(str(self.path), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(programs, "HOME", home)
    made = Served(tmp_path)
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def client(served: Served) -> Iterator[ServerClient]:
    made = ServerClient(served.path, longest_seconds=20)
    yield made
    asyncio.run(made.close())


async def test_an_answer_is_a_document_and_what_belongs_to_it(client: ServerClient) -> None:
    reply = await client.request("observe")
    assert reply.document == {"controls": []} and reply.content == b"picture"


async def test_what_it_cannot_do_is_refused_and_what_breaks_is_transient(client: ServerClient) -> None:
    with pytest.raises(RequestRefusedError, match="nothing to see"):
        await client.request("observe", {"impossible": True})
    with pytest.raises(EnvironmentBrokenError, match="display is dead") as broken:
        await client.request("observe", {"broken": True})
    assert broken.value.transient
    with pytest.raises(RequestRefusedError, match="no request 'dance'"):
        await client.request("dance")
    assert (await client.request("observe")).content == b"picture", "it goes on"


async def test_a_server_that_is_gone_is_a_broken_environment(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentBrokenError, match="did not answer"):
        await ServerClient(tmp_path / "nowhere.sock").request("observe")


async def test_files_are_written_below_the_home_only(client: ServerClient, tmp_path: Path) -> None:
    await client.write({"Documents/a.txt": b"one", "Empty": None})
    assert (tmp_path / "home/Documents/a.txt").read_bytes() == b"one" and (tmp_path / "home/Empty").is_dir()
    with pytest.raises(RequestRefusedError, match="outside the home"):
        await client.write({"../b.txt": b"two"})
    assert not (tmp_path / "b.txt").exists()


async def test_commands_end_with_code_and_output_or_are_ended(client: ServerClient) -> None:
    done = (await client.request("run", {"command": ["sh", "-c", "echo out; echo err >&2; exit 3"]})).document
    assert (done["code"], done["output"], done["errors"]) == (3, "out\n", "err\n")
    late = await client.request("run", {"command": ["sleep", "60"], "seconds": 0.1})
    absent = await client.request("run", {"command": ["no-such-program"]})
    assert (late.document["code"], absent.document["code"]) == (124, 127)


async def test_a_port_of_the_machine_is_reached_through_the_socket(client: ServerClient) -> None:
    answered = threading.Event()
    inside = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = inside.accept()
        with connection:
            connection.sendall(connection.recv(100).upper())
        answered.set()

    threading.Thread(target=answer, daemon=True).start()
    port = await client.forward(inside.getsockname()[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"hello")
    assert await reader.read() == b"HELLO" and answered.is_set()
    writer.close()
    inside.close()
    assert await client.forward(inside.getsockname()[1] if inside.fileno() >= 0 else 1) > 0


async def test_the_end_of_the_host_ends_the_machine(client: ServerClient, served: Served) -> None:
    await asyncio.to_thread(client.open_lifeline)
    await client.request("observe")
    assert not served.ended.is_set()
    await client.close()
    assert await asyncio.to_thread(served.ended.wait, LONGEST_SECONDS)


def ask(served: Served, method: str, path: str, body: bytes = b"", kind: str = "") -> tuple[int, bytes]:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(served.path))
    head = f"{method} {path} HTTP/1.0\r\nContent-Length: {len(body)}\r\nContent-Type: {kind}\r\n\r\n"
    connection.sendall(head.encode() + body)
    answer = b""
    while part := connection.recv(65536):
        answer += part
    head_, _, content = answer.partition(b"\r\n\r\n")
    return int(head_.split()[1]), content


def test_clients_of_osworlds_protocol_find_what_they_know(served: Served, tmp_path: Path) -> None:
    assert ask(served, "GET", "/platform") == (200, b"Linux")
    told = json.dumps({"command": ["sh", "-c", "echo $0 ~"], "shell": False}).encode()
    status, content = ask(served, "POST", "/execute", told, "application/json")
    done = json.loads(content)
    assert status == 200 and (done["status"], done["returncode"]) == ("success", 0)
    form = (
        b'--b\r\nContent-Disposition: form-data; name="file_path"\r\n\r\n~/Documents/new.bin\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file_data"; filename="x"\r\n'
        b"Content-Type: application/octet-stream\r\n\r\n\x00\x01\r\n--b--\r\n"
    )
    assert ask(served, "POST", "/setup/upload", form, "multipart/form-data; boundary=b")[0] == 200
    assert (tmp_path / "home/Documents/new.bin").read_bytes() == b"\x00\x01"
    form_kind = "application/x-www-form-urlencoded"
    assert ask(served, "POST", "/file", b"file_path=~/Documents/new.bin", form_kind) == (200, b"\x00\x01")
    assert ask(served, "POST", "/file", b"file_path=~/no", form_kind)[0] == 404
    told = json.dumps({"path": "~/Documents"}).encode()
    tree = json.loads(ask(served, "POST", "/list_directory", told, "application/json")[1])["directory_tree"]
    assert tree["children"] == [{"type": "file", "name": "new.bin"}]
    assert ask(served, "POST", "/no/such/path")[0] == 404
    assert ask(served, "POST", "/execute", b"no json", "application/json")[0] == 500


def test_what_clients_write_with_pyautogui_becomes_inputs(served: Served) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(MODULES)!r})\n"
        f"import pyautogui as p; p._SOCKET = {str(served.path)!r}\n"
        "p.click(10, 20); p.doubleClick(5, 6); p.rightClick(1, 2)\n"
        "p.moveTo(7, 8); p.moveRel(1, 1); p.dragTo(9, 9)\n"
        "p.scroll(-3); p.hscroll(2, 1, 1); p.write('aé'); p.press('esc', presses=2); p.hotkey('ctrl', 'S')\n"
        "p.mouseDown(1, 1); p.mouseUp(2, 2); p.keyDown('shift'); p.keyUp('shift')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LONGEST_SECONDS)
    kinds = [item["kind"] for item in served.desktop.inputs]
    assert kinds == [
        *("click", "click", "click", "move", "move", "drag", "wheel", "wheel", "keys", "keys"),
        *("key_down", "key_down", "key_up", "key_up", "button_down", "button_up", "key_down", "key_up"),
    ]
    click, double, right, _, moved, drag, wheel, sideways, written, escape, held, *_ = served.desktop.inputs
    assert (click["point"], double["times"], right["button"]) == ([10, 20], 2, "right")
    assert (moved["point"], drag["points"]) == ([4, 5], [[3, 4], [9, 9]])
    assert (wheel["up"], wheel["point"], sideways["sideways"]) == (-3, [3, 4], 2)
    assert written["presses"] == [["a", []], ["é", []]] and escape["presses"] == [["escape", []]] * 2
    assert held["key"] == "ctrl"


def test_a_form_that_is_none_is_no_reason_to_stop(served: Served) -> None:
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x", "application/json", "text/odd"):
        assert ask(served, "POST", "/setup/upload", b"\xff\x00", kind)[0] == 500
    assert ask(served, "GET", "/platform")[0] == 200
