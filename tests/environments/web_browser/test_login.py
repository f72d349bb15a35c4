"""A user is logged in once, while the clean state is prepared, and is so at every reset."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from taskloom.environments.errors import ApplicationUnavailableError
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.servers.hosting import Hosting
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application, BrowserState, Launch, LoginForm, Preparation

SERVER = r"""
import pathlib, secrets, sys, urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

SESSIONS, TICKETS, LOGINS = (pathlib.Path(name) for name in ("sessions", "tickets", "logins"))
FORM = '''<form action="/search"><input name=query></form>
<form method=post action="in"><input type=hidden name=ticket value="%s"><input name=user>
<input type=password name=password><input type=checkbox name=forever>
<button name=go value=yes>In</button></form>'''

class Handler(BaseHTTPRequestHandler):
    def answer(self, status, text, **headers):
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        if self.path == "/away":
            return self.answer(302, "", Location="http://localhost:%s/elsewhere" % self.server.server_port)
        if self.path == "/account/login":
            TICKETS.write_text(secrets.token_hex(4))
            return self.answer(200, FORM % TICKETS.read_text())
        known = SESSIONS.read_text().split() if SESSIONS.exists() else []
        cookie = self.headers.get("Cookie", "").partition("session=")[2].partition(";")[0]
        self.answer(200, "Hello Ada" if cookie and cookie in known else "Who are you?")

    def do_POST(self):
        sent = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        right = {"ticket": [TICKETS.read_text()], "user": ["ada"], "password": ["secret&"], "go": ["yes"]}
        if self.path != "/account/in" or sent != right:
            return self.answer(403, FORM % TICKETS.read_text())
        with LOGINS.open("a") as counted:
            counted.write("x")
        SESSIONS.write_text(secrets.token_hex(8))
        self.answer(303, "", Location="/", Set_Cookie="session=" + SESSIONS.read_text())

    def log_message(self, *what):
        pass

HTTPServer(("127.0.0.1", int(pathlib.Path("port.txt").read_text())), Handler).serve_forever()
"""


def entry(login: LoginForm) -> Application:
    return Application(
        name="accounts",
        title="Accounts",
        category="Note Management",
        version="1",
        licence="MIT",
        description="Accounts.",
        manual="Write.",
        preparation=Preparation(files={"server.py": SERVER, "port.txt": "{port}"}, login=login),
        launch=Launch(
            command=(sys.executable, "{state}/server.py"),
            browser_state=BrowserState(cookies={"language": "en"}),
        ),
    )


def form(password: str = "secret&", url_path: str = "/account/login", user: str = "user") -> LoginForm:
    return LoginForm(url_path=url_path, fields={user: "ada", "password": password})


def shown(address: str, cookies: dict[str, str]) -> str:
    sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
    with build_opener(ProxyHandler({})).open(Request(address, headers={"Cookie": sent}), timeout=10) as page:
        return str(page.read().decode())


def hosting_in(sandbox: Sandbox, folder: Path) -> Hosting:
    settings = WebBrowserSettings(data_folder=folder / "data", temporary_folder=folder, isolation="never")
    return Hosting(settings, sandbox)


async def test_the_form_is_submitted_once_and_its_cookies_are_there_at_every_reset(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    hosting = hosting_in(sandbox, tmp_path)
    accounts = entry(form())
    try:
        for _ in range(2):
            await hosting.restart([accounts])
            cookies = hosting.browser_state(accounts).cookies
            assert cookies.keys() == {"session", "language"}
            assert shown(hosting.address(accounts), cookies) == "Hello Ada"
            assert shown(hosting.address(accounts), {}) == "Who are you?"
            assert (sandbox.state_folder("accounts") / "logins").read_text() == "x"
    finally:
        await hosting.close()
        sandbox.close()


@pytest.mark.parametrize(
    ("login", "message"),
    [
        (form(password="wrong"), "shows the same form again"),
        (
            form(user="name"),
            "no form with the inputs name, password; it has: query; forever, go, password",
        ),
        (form(url_path="/"), "it has: no form at all"),
        (form(url_path="/away"), "leads to another server: http://localhost:[0-9]+/elsewhere"),
    ],
)
async def test_a_login_that_does_not_work_is_said_and_leaves_no_state(
    login: LoginForm, message: str, tmp_path: Path
) -> None:
    sandbox = Sandbox(tmp_path)
    hosting = hosting_in(sandbox, tmp_path)
    try:
        with pytest.raises(ApplicationUnavailableError, match=message):
            await hosting.restart([entry(login)])
        assert not list((tmp_path / "data" / "prepared").glob("*/prepared_at.txt"))
    finally:
        await hosting.close()
        sandbox.close()
