"""Clean states of applications: prepared once per machine, with a user logged in if needed, and copied at
every reset. A state may contain its own absolute path; all such paths have the same length, so the path can
be replaced in place."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from filelock import FileLock
from playwright.async_api import Error as BrowserError
from playwright.async_api import Page

from taskloom.environments.errors import ApplicationUnavailableError, EnvironmentFailureError
from taskloom.environments.machines.sandbox import Sandbox
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.resources.applications import Application, LoginForm
from taskloom.resources.assets import content_of

_PATH_FILE = "prepared_at.txt"
_STATE_FOLDER = "state"
_COOKIES_FILE = "cookies.json"
LogIn = Callable[[Application, Sandbox], dict[str, str]]
"""Logs a user in on the state in a sandbox; returns the cookies."""
_PREPARATION_LIMIT_SECONDS = 300


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """Fill in the placeholders named in `values`; other braces stay, because files contain many."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def prepared_state(
    application: Application,
    data_folder: Path,
    values: Mapping[str, str],
    temporary_folder: Path | None,
    log_in: LogIn | None = None,
) -> Path:
    """The folder with the prepared state of `application`, created if it does not exist yet.

    Blocks. Concurrent processes prepare it only once: the second waits for the first. `values` holds the
    placeholders `install`, `venv` and `node`; `log_in` is called if the entry has a login.

    Raises:
        ApplicationUnavailableError: the login or a command failed; the message ends with what it printed.
    """
    folder = (
        data_folder.absolute()
        / "prepared"
        / f"{application.name}-{_recipe_hash(application, values, temporary_folder)}"
    )
    if (folder / _PATH_FILE).exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / _PATH_FILE).exists():
            _prepare(application, folder, values, temporary_folder, log_in)
    return folder


def kept_cookies(prepared: Path) -> dict[str, str]:
    """The cookies that identify the user of a prepared state."""
    cookies: dict[str, str] = json.loads((prepared / _COOKIES_FILE).read_text())
    return cookies


def lay_state(prepared: Path, state: Path) -> None:
    """Copy a prepared state to `state`, which is absent or empty, with its old path replaced by the new one.

    Links stay links; modification times are kept, because version control and servers compare them.

    Raises:
        ValueError: the paths differ in length, so one cannot replace the other in binary files.
    """
    shutil.copytree(prepared / _STATE_FOLDER, state, symlinks=True, dirs_exist_ok=True)
    old = (prepared / _PATH_FILE).read_bytes()
    new = os.fsencode(_sandbox_root(state))
    if len(old) != len(new):
        raise ValueError(f"The sandbox path {new!r} is not as long as {old!r}, where the state was prepared.")
    for folder, _, names in os.walk(state):
        for name in names:
            path = Path(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            content = path.read_bytes()
            if old in content:
                status = path.stat()
                path.write_bytes(content.replace(old, new))
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _prepare(
    application: Application,
    folder: Path,
    values: Mapping[str, str],
    temporary_folder: Path | None,
    log_in: LogIn | None,
) -> None:
    sandbox = Sandbox(temporary_folder)
    try:
        sandbox.clear()
        state = sandbox.state_folder(application.name)
        state.mkdir(parents=True)
        filled = {**values, "home": str(sandbox.home), "state": str(state)}
        for name, text in application.preparation.files.items():
            path = (state / name).resolve()
            if not path.is_relative_to(state):
                raise ApplicationUnavailableError(
                    f"The prepared file {name!r} of {application.name!r} lies outside its state folder."
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            content = content_of(text, application)
            path.write_bytes(
                content if text.startswith("asset:") else fill_placeholders(text, filled).encode()
            )
        environment = sandbox.process_environment()
        for command in application.preparation.commands:
            arguments = [fill_placeholders(argument, filled) for argument in command]
            run_command(
                f"Preparing {application.title}",
                arguments,
                _PREPARATION_LIMIT_SECONDS,
                ApplicationUnavailableError,
                folder=state,
                environment=environment,
            )
        cookies = log_in(application, sandbox) if log_in and application.preparation.login else {}
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            complete = Path(scratch, "complete")
            complete.mkdir()
            shutil.copytree(state, complete / _STATE_FOLDER, symlinks=True)
            (complete / _COOKIES_FILE).write_text(json.dumps(cookies))
            (complete / _PATH_FILE).write_bytes(os.fsencode(_sandbox_root(state)))
            shutil.rmtree(folder, ignore_errors=True)
            complete.rename(folder)
    finally:
        sandbox.close()


def run_command(
    what: str,
    command: Sequence[str],
    limit_seconds: float,
    failed: type[EnvironmentFailureError],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a command of an entry to its end; `what` names its purpose in messages.

    Raises:
        EnvironmentFailureError: the command failed, as an error of the type `failed`; the message ends with
            its output.
    """
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise failed(f"{what} failed: {error}") from error
    if done.returncode:
        printed = done.stdout.decode(errors="replace")[-800:].strip()
        raise failed(f"{what} failed: {command[0]!r} ended with {done.returncode}: {printed}")


def _sandbox_root(state: Path) -> Path:
    """The sandbox root above `<root>/home/.applications/<name>`."""
    return state.parents[2]


def _recipe_hash(application: Application, values: Mapping[str, str], temporary_folder: Path | None) -> str:
    assets = {
        name: hashlib.sha256(content_of(text, application)).hexdigest()
        for name, text in application.preparation.files.items()
    }
    recipe = {
        "version": application.version,
        "installation": application.installation.model_dump(mode="json"),
        "preparation": application.preparation.model_dump(mode="json"),
        "assets": assets,
        "values": dict(values),
        "path_length": len(str(temporary_folder or tempfile.gettempdir())),
    }
    if application.preparation.login is not None:  # what its server wrote is part of the state
        recipe["launch"] = application.launch.model_dump(mode="json", include={"command", "environment"})
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:12]


_LIMIT_SECONDS = 30.0
_INPUTS = "forms => forms.map(form => [...form.elements].map(e => e.name).filter(Boolean).sort().join(', '))"


async def cookies_of(login: LoginForm, origin: str, title: str, browser: BrowserProcess) -> dict[str, str]:
    """Submit the login form at `origin` as a user does; return the resulting cookies of `browser` by name.

    Raises:
        ApplicationUnavailableError: the page has no such form, leads elsewhere, or does not log the user in.
        EnvironmentBrokenError: the browser died.
    """
    where = f"The login of {title} at {login.url_path}"
    inputs = {f"[name={json.dumps(name)}]": value for name, value in login.fields.items()}
    context = await browser.new_context()
    try:
        page = await context.new_page()
        page.set_default_navigation_timeout(_LIMIT_SECONDS * 1000)
        await page.goto(f"{origin}{login.url_path}")
        form = page.locator("form" + "".join(f":has({item})" for item in inputs)).first
        _require_origin(page, origin, where)
        if not await form.count():
            known = "; ".join(await page.eval_on_selector_all("form", _INPUTS)) or "no form at all"
            raise ApplicationUnavailableError(
                f"{where} has no form with the inputs {', '.join(login.fields)}; it has: {known}."
            )
        for item, value in inputs.items():
            await form.locator(item).fill(value)
        async with page.expect_navigation():
            await form.locator(item).press("Enter")
        _require_origin(page, origin, where)
        if await form.count():
            raise ApplicationUnavailableError(
                f"{where} shows the same form again: the values are not accepted."
            )
        cookies = {item["name"]: item["value"] for item in await context.cookies() if item.get("value")}
    except BrowserError as error:
        raise ApplicationUnavailableError(f"{where} failed: {error.message.splitlines()[0]}") from error
    if not cookies:
        raise ApplicationUnavailableError(
            f"{where} sets no cookie, so the browser cannot be logged in by it."
        )
    return cookies


def _require_origin(page: Page, origin: str, where: str) -> None:
    if not page.url.startswith(f"{origin}/"):
        raise ApplicationUnavailableError(f"{where} leads to another server: {page.url}.")
