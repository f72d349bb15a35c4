"""Logging a user in, once, while the clean state of an application is prepared."""

from __future__ import annotations

import json

from playwright.async_api import Error as BrowserError
from playwright.async_api import Page

from taskloom.environments.errors import ApplicationUnavailableError
from taskloom.environments.platforms.web_browser.browser import BrowserProcess
from taskloom.resources.applications import LoginForm

_LIMIT_SECONDS = 30.0
_NAMES = "forms => forms.map(form => [...form.elements].map(e => e.name).filter(Boolean).sort().join(', '))"


async def cookies_of(login: LoginForm, origin: str, title: str, browser: BrowserProcess) -> dict[str, str]:
    """Submit the form on the server at `origin` as a user does, and return the cookies that `browser` then
    has, by name.

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
        _check(page, origin, where)
        if not await form.count():
            known = "; ".join(await page.eval_on_selector_all("form", _NAMES)) or "no form at all"
            raise ApplicationUnavailableError(
                f"{where} has no form with the inputs {', '.join(login.fields)}; it has: {known}."
            )
        for item, value in inputs.items():
            await form.locator(item).fill(value)
        async with page.expect_navigation():
            await form.locator(item).press("Enter")
        _check(page, origin, where)
        if await form.count():
            raise ApplicationUnavailableError(
                f"{where} shows the same form again: the values are not accepted."
            )
        found = {item["name"]: item["value"] for item in await context.cookies() if item.get("value")}
    except BrowserError as error:
        raise ApplicationUnavailableError(f"{where} failed: {error.message.splitlines()[0]}") from error
    if not found:
        raise ApplicationUnavailableError(
            f"{where} sets no cookie, so the browser cannot be logged in by it."
        )
    return found


def _check(page: Page, origin: str, where: str) -> None:
    if not page.url.startswith(f"{origin}/"):
        raise ApplicationUnavailableError(f"{where} leads to another server: {page.url}.")
