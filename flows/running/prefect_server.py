"""Prefect's server for one run: started before anything else is imported, gone when the run ends.

It inherits its listening socket from us: requests queue there while it starts, so imports and start overlap
and nobody polls. It exits only when the pipe to us closes, however we end. It has its own session and ignores
signals: if it died first, the run could not report its result and would wait for more than a minute.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from filelock import FileLock

from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode, TaskloomError

_PREFECT_DEFAULTS = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    "PREFECT_CLI_PROMPT": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "PREFECT_TASKS_REFRESH_CACHE": "true",
    "DO_NOT_TRACK": "1",
}


def prepare_prefect(data_folder: Path) -> None:
    """Set the variables that Prefect reads when imported, unless the user has set them; call this first.

    The database goes into the data folder, so nothing ends up in the user's home.
    """
    if "PREFECT_HOME" not in os.environ and "PREFECT_API_URL" not in os.environ:
        home = (data_folder / "prefect").resolve()
        home.mkdir(parents=True, exist_ok=True)
        os.environ["PREFECT_HOME"] = str(home)
    for name, value in _PREFECT_DEFAULTS.items():
        os.environ.setdefault(name, value)
    if "PREFECT_API_URL" not in os.environ:
        os.environ.setdefault("PREFECT_LOGGING_TO_API_ENABLED", "false")


def quiet_libraries() -> None:
    """Keep libraries from writing over the progress display; their errors are still shown."""
    for name in (
        "httpx",
        "httpcore",
        "openai",
        "anthropic",
        "asyncio",
        "uvicorn",
    ):
        logging.getLogger(name).setLevel(logging.ERROR)


_LONGEST_START_SECONDS = 180
_STOP_SECONDS = 5.0
_ENDING_SECONDS = 3.0
_LOST_CONNECTION_SECONDS = 60.0
_LONGEST_ANSWER_SECONDS = 30.0


@contextmanager
def prefect_server() -> Iterator[None]:
    """A server on a loopback port while the block runs, announced in `PREFECT_API_URL`.

    Starts nothing if that variable already names a server. Must be entered before the first `import prefect`,
    after `prepare_prefect` has set the path of the database.

    Raises:
        CommandError: the named server does not answer, or ours ended while the block ran; the message names
            the file with its last output.
    """
    if os.environ.get("PREFECT_API_URL"):
        require_server()
        yield
        return
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        port = listening.getsockname()[1]
        _error_log().parent.mkdir(parents=True, exist_ok=True)
        with _error_log().open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "taskloom.flows.running.prefect_server", str(listening.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[listening.fileno()],
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            )
    os.environ["PREFECT_API_URL"] = f"http://127.0.0.1:{port}/api"
    os.environ.setdefault("PREFECT_API_REQUEST_TIMEOUT", str(_LONGEST_START_SECONDS))
    try:
        yield
    except TaskloomError:
        raise
    except Exception as error:
        longest = _LOST_CONNECTION_SECONDS if _is_lost_connection(error) else _ENDING_SECONDS
        if not _has_ended(process, longest):
            raise
        message = (
            f"Prefect's server ended with code {process.returncode}; {_error_log()} has its last output."
        )
        raise CommandError(f"{message} Start again.", ExitCode.NEGATIVE_ANSWER) from error
    finally:
        del os.environ["PREFECT_API_URL"]
        assert process.stdin is not None
        process.stdin.close()
        if not _has_ended(process, _STOP_SECONDS):
            process.kill()
            process.wait()


def require_server() -> None:
    """Check that the user's own server, which `PREFECT_API_URL` names, answers.

    Raises:
        CommandError: it does not answer.
    """
    url = os.environ["PREFECT_API_URL"]
    try:
        if not url.startswith(("http://", "https://")):
            raise ValueError("no http address")
        with urlopen(f"{url.rstrip('/')}/health", timeout=_LONGEST_ANSWER_SECONDS):  # noqa: S310 - the user's server
            return
    except HTTPError:
        return  # it answers; whether it lets us in, Prefect's own client will say
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise CommandError(
            f"the Prefect server of PREFECT_API_URL={url!r} does not answer ({reason}); start it (`prefect"
            " server start` says its address, and needs a moment), or unset the variable: runs then start a"
            " server of their own",
            ExitCode.MISSING_REQUIREMENT,
        ) from None


def _is_lost_connection(error: BaseException | None) -> bool:
    """Whether a connection broke, as happens shortly before a server ends."""
    while error is not None:
        if isinstance(error, ConnectionError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def prepare_database() -> None:
    """Create or migrate the server's database now, so that the first run does not have to.

    Raises:
        subprocess.CalledProcessError: Prefect failed; the next run tries again.
    """
    command = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "--yes"]
    with _first_start() as first:
        if first:
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            _migration_marker().touch()


def _migration_marker() -> Path:
    """The file that marks the database as migrated to the installed Prefect."""
    return Path(os.environ["PREFECT_HOME"]) / f"migrated-{version('prefect')}"


@contextmanager
def _first_start() -> Iterator[bool]:
    """Yield, under a lock, whether the database must still be migrated; other starts wait for the first."""
    if _migration_marker().exists():
        yield False
        return
    with FileLock(_migration_marker().parent / "first-start.lock"):
        yield not _migration_marker().exists()


def _error_log() -> Path:
    return Path(os.environ["PREFECT_HOME"]) / "server-errors.log"


def _serve(file_descriptor: int) -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)

    def end_with_parent() -> None:
        os.read(0, 1)
        os._exit(0)

    threading.Thread(target=end_with_parent, daemon=True).start()
    os.environ |= {
        "PREFECT_UI_ENABLED": "0",
        "PREFECT__SERVER_EPHEMERAL": "1",
        "PREFECT__SERVER_FINAL": "1",
        "PREFECT_LOGGING_SERVER_LEVEL": "ERROR",
    }
    starting = ExitStack()
    if not starting.enter_context(_first_start()):
        os.environ["PREFECT_SERVER_DATABASE_MIGRATE_ON_START"] = "false"
        starting.close()

    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # they stay ignored

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if not self.started:
                os._exit(3)  # nothing to tidy up, and the waiting run notices at once
            _migration_marker().touch()
            starting.close()

    config = uvicorn.Config(
        "prefect.server.api.server:create_app", factory=True, log_level="error", lifespan="on"
    )
    Server(config).run(sockets=[socket.socket(fileno=file_descriptor)])


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
