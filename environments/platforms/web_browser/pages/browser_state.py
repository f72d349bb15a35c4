"""What the browser keeps for an application, put there before its first page."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.async_api import Page, Route

from taskloom.resources.applications import BrowserState

_STORE = """({local, session}) => {
  for (const [key, text] of Object.entries(local)) localStorage.setItem(key, text);
  for (const [key, text] of Object.entries(session)) sessionStorage.setItem(key, text);
}"""


async def keep(page: Page, state: BrowserState, address: str) -> None:
    """Put `state` into the browser of `page`, which then shows an empty page of the origin of `address`.

    The application's server is not asked for anything.

    Raises:
        playwright.async_api.Error: the browser refuses a cookie or a text, or the script fails.
    """
    parts = urlsplit(address)
    origin = f"{parts.scheme}://{parts.netloc}"
    if state.cookies:
        await page.context.add_cookies(
            [{"name": name, "value": value, "url": origin} for name, value in state.cookies.items()]
        )

    async def empty(route: Route) -> None:
        await route.fulfill(body="<!doctype html>", content_type="text/html")

    pattern = f"{origin}/**"
    await page.route(pattern, empty)
    try:
        await page.goto(f"{origin}/")
        await page.evaluate(_STORE, {"local": state.local_storage, "session": state.session_storage})
        if state.script:
            await page.evaluate(f"async () => {{ await ({state.script}\n) }}")
    finally:
        await page.unroute(pattern, empty)
