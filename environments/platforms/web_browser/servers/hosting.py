"""The servers of one environment: sets up clean states, starts and stops processes, serves files."""

import asyncio
import functools
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from taskloom.environments.errors import ApplicationStartFailedError, ApplicationUnavailableError
from taskloom.environments.installing.applications import installed_place, missing_for_start
from taskloom.environments.installing.packages import find_node
from taskloom.environments.machines.bubblewrap import WITHOUT, is_confined
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.environments.platforms.web_browser.servers.application_server import (
    ApplicationServer,
    Confinement,
    data_folder,
    fill_port,
    reset_running_application,
    unfilled_files,
)
from taskloom.environments.platforms.web_browser.servers.template_state import (
    cookies_of,
    fill_placeholders,
    kept_cookies,
    lay_state,
    prepared_state,
)
from taskloom.environments.platforms.web_browser.settings import WebBrowserSettings
from taskloom.resources.applications import Application, BrowserState


class _Handler(SimpleHTTPRequestHandler):
    """Serves files, keeps connections open and prints nothing."""

    protocol_version = "HTTP/1.1"
    extensions_map = {  # noqa: RUF012 - the type of the inherited attribute
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".svg": "image/svg+xml",
        ".json": "application/json",
        ".webmanifest": "application/manifest+json",
        ".wav": "audio/wav",
    }

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    """Prints no error if a browser goes away in the middle of a connection."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class StaticServer:
    """Serves one folder from a thread of this process until it is closed; never outlives the process."""

    def __init__(self, folder: Path) -> None:
        handler = functools.partial(_Handler, directory=str(folder))
        self._server = _Server(("127.0.0.1", 0), handler)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


_MOST_RESTARTS = 2
"""Maximum restarts of an application's server between two resets."""


class Hosting:
    """Runs the servers of one sandbox."""

    def __init__(self, settings: WebBrowserSettings, sandbox: Sandbox) -> None:
        self._settings = settings
        self.sandbox = sandbox
        self._servers: dict[str, ApplicationServer] = {}
        self._static: dict[Path, StaticServer] = {}
        self.ports: dict[str, int] = {}
        """Ports of running applications."""
        self._own_ports: dict[str, int] = {}
        self._restarts: dict[str, int] = {}
        self._cookies: dict[str, dict[str, str]] = {}
        self.data_folders: dict[str, Path] = {}
        """Data folders, outside of the sandbox, of applications that run at an address."""

    async def restart(self, applications: Sequence[Application], without: Collection[str] = ()) -> None:
        """Stop the servers, empty the home, set up clean states and fixtures, and start `applications`.

        Fixtures whose paths are in `without` are left out. File servers without a state of their own keep
        running, and so do idle servers that read all their files anew.

        Raises:
            ApplicationUnavailableError: one is not installed or cannot be prepared.
            ApplicationStartFailedError: one did not start.
        """
        staying = await self._find_staying(applications)
        await self.stop(except_for=staying)
        for application in applications:
            missing = missing_for_start(application, self._settings.data_folder)
            if missing:
                raise ApplicationUnavailableError(missing)
        await asyncio.to_thread(self.sandbox.clear, staying)
        prepared = await asyncio.gather(*(asyncio.to_thread(self._prepare, item) for item in applications))
        for application, template in zip(applications, prepared, strict=True):
            state = self.sandbox.state_folder(application.name)
            if template is None:
                state.mkdir(parents=True, exist_ok=True)
            else:
                await asyncio.to_thread(lay_state, template, state)
                self._cookies[application.name] = kept_cookies(template)
            if application.name in staying:
                fill_port(state, self.ports[application.name])
        self.sandbox.lay_fixtures(applications, without)
        self._restarts.clear()
        self.data_folders.clear()
        outcomes = await asyncio.gather(
            *(self._start_patiently(item) for item in applications if item.name not in staying),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                await self.stop()
                raise outcome

    def address(self, application: Application) -> str:
        """The address at which the browser opens `application`."""
        origin = application.launch.address.rstrip("/") or f"http://127.0.0.1:{self.ports[application.name]}"
        return f"{origin}{application.launch.url_path}"

    def browser_state(self, application: Application) -> BrowserState:
        """The browser state that `application` starts with, including cookies of its prepared state."""
        state = application.launch.browser_state
        cookies = self._cookies.get(application.name, {}) | state.cookies
        return state.model_copy(update={"cookies": cookies})

    def check(self, application: str) -> None:
        """Make sure that the server of `application` still runs.

        Raises:
            ApplicationStartFailedError: it ended; the message ends with what it printed.
        """
        server = self._servers.get(application)
        if server is not None and not server.is_running:
            raise ApplicationStartFailedError(f"{server.application.title} ended: {server.printed()}")

    async def keep_running(self, application: str) -> None:
        """Restart a server that has ended, with its port and state, so that its pages continue to work.

        Raises:
            ApplicationStartFailedError: it ended too often, or does not start again.
        """
        server = self._servers.get(application)
        if server is None or server.is_running:
            return
        self._restarts[application] = self._restarts.get(application, 0) + 1
        if self._restarts[application] > _MOST_RESTARTS:
            self.check(application)
        await server.stop()
        await self._start(server.application, server.port)

    async def stop(self, except_for: Collection[str] = ()) -> None:
        """Stop every server process except those of the applications in `except_for`."""
        stopped = [self._servers.pop(name) for name in list(self._servers) if name not in except_for]
        await asyncio.gather(*(server.stop() for server in stopped))

    async def close(self) -> None:
        """Stop everything, file servers included."""
        await self.stop()
        for static in self._static.values():
            await asyncio.to_thread(static.close)
        self._static.clear()

    async def _find_staying(self, applications: Sequence[Application]) -> frozenset[str]:
        folders = (self.sandbox.home, self.sandbox.private)
        servers = [(item, self._servers[item.name]) for item in applications if item.name in self._servers]
        found = await asyncio.gather(*(server.may_stay(item, folders) for item, server in servers))
        return frozenset(item.name for (item, _), stays in zip(servers, found, strict=True) if stays)

    def _prepare(self, application: Application) -> Path | None:
        preparation = application.preparation
        if not preparation.commands and not preparation.files and preparation.login is None:
            return None
        return prepared_state(
            application,
            self._settings.data_folder,
            self._places(application),
            self._settings.temporary_folder,
            self._log_in,
        )

    def _log_in(self, application: Application, sandbox: Sandbox) -> dict[str, str]:
        """Log a user in on the state in `sandbox`, which does not keep the port that was used."""
        login, state = application.preparation.login, sandbox.state_folder(application.name)
        unfilled = unfilled_files(state)

        async def serve_and_log_in() -> dict[str, str]:
            assert login is not None, "only entries with a login are logged in"
            browser = await BrowserProcess.start(self._settings, sandbox)
            try:
                server = await self._serve(application, sandbox)
                try:
                    origin = f"http://127.0.0.1:{server.port}"
                    return await cookies_of(login, origin, application.title, browser)
                finally:
                    await server.stop()
            finally:
                await browser.close()

        cookies = asyncio.run(serve_and_log_in())
        for path, content in unfilled.items():
            path.write_bytes(content)
        return cookies

    async def _start_patiently(self, application: Application) -> None:
        """Start an application at its last port, which identifies cached files to browsers; try once more if
        the server ends early, as on a busy machine or if the port is taken."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + application.launch.start_timeout_seconds
        try:
            await self._start(application, self._own_ports.get(application.name, 0))
        except ApplicationStartFailedError:
            if clock() >= deadline:  # it did not end early, but never started
                raise
            await self._start(application)

    async def _start(self, application: Application, port: int = 0) -> None:
        if application.launch.address:
            self.ports[application.name] = await reset_running_application(application)
            folder = data_folder(application)
            if folder is not None:
                self.data_folders[application.name] = folder
            return
        if application.launch.command:
            server = await self._serve(application, self.sandbox, port)
            self._servers[application.name] = server
            self.ports[application.name] = self._own_ports[application.name] = server.port
            return
        folder = Path(fill_placeholders(application.launch.serve, self._values(application, self.sandbox)))
        if not application.launch.serve or not await asyncio.to_thread(folder.is_dir):
            raise ApplicationUnavailableError(
                f"{application.title} names neither a command nor a folder to serve that exists:"
                f" {str(folder)!r}."
            )
        if folder not in self._static:
            self._static[folder] = StaticServer(folder)
        self.ports[application.name] = self._static[folder].port

    async def _serve(self, application: Application, sandbox: Sandbox, port: int = 0) -> ApplicationServer:
        values = self._values(application, sandbox)
        return await ApplicationServer.start(
            application,
            values,
            sandbox.process_environment(),
            sandbox.logs / f"{application.name}.log",
            self._confinement(values, sandbox),
            port,
        )

    def _confinement(self, places: Mapping[str, str], sandbox: Sandbox) -> Confinement | None:
        """What servers may access; None if they run unconfined, which the settings may refuse."""
        if not is_confined(self._settings.isolation):
            if self._settings.isolation == "always":
                raise ApplicationUnavailableError(
                    f"{WITHOUT}; install it, or set the isolation to 'automatic'."
                )
            return None
        return Confinement(
            sandbox.root,
            (
                self._settings.data_folder.absolute(),
                *(Path(places[name]).absolute() for name in ("install", "node")),
            ),
        )

    def _values(self, application: Application, sandbox: Sandbox) -> dict[str, str]:
        state = sandbox.state_folder(application.name)
        return {**self._places(application), "home": str(sandbox.home), "state": str(state)}

    def _places(self, application: Application) -> dict[str, str]:
        place = installed_place(application, self._settings.data_folder)
        node = find_node(self._settings.data_folder)
        return {
            "install": str(place),
            "venv": str(place / "venv"),
            "node": str(node.executable) if node is not None else "node",
        }
