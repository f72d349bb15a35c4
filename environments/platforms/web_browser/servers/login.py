"""Logging a user in, once, while the clean state of an application is prepared."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from http.client import HTTPException, HTTPMessage
from http.cookiejar import CookieJar
from typing import IO
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import (
    HTTPCookieProcessor,
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from taskloom.environments.errors import ApplicationUnavailableError
from taskloom.resources.applications import LoginForm

_LONGEST_PAGE = 2_000_000
_LIMIT_SECONDS = 30.0


def cookies_of(login: LoginForm, origin: str, title: str) -> dict[str, str]:
    """Submit the form on the server at `origin`, and return the cookies that the browser needs, by name.

    Blocks. Only the application's own server is asked.

    Raises:
        ApplicationUnavailableError: the page has no such form, leads elsewhere, or does not log the user in.
    """
    jar = CookieJar()
    where = f"The login of {title} at {login.url_path}"
    opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(jar), _SameServer(where))
    try:
        address, page = _asked(opener, f"{origin}{login.url_path}")
        forms = _forms_in(page)
        form = next((item for item in forms if login.fields.keys() <= item.values.keys()), None)
        if form is None:
            known = "; ".join(", ".join(sorted(item.values)) for item in forms) or "no form at all"
            raise ApplicationUnavailableError(
                f"{where} has no form with the inputs {', '.join(login.fields)}; it has: {known}."
            )
        target = urljoin(address, form.action)
        _check(target, address, where)
        sent = urlencode(form.values | login.fields)
        if form.method == "post":
            _, answer = _asked(opener, target, sent.encode())
        else:
            _, answer = _asked(opener, f"{target.partition('?')[0]}?{sent}")
    except (OSError, HTTPException, ValueError) as error:
        raise ApplicationUnavailableError(f"{where} failed: {error}") from error
    if any(login.fields.keys() <= item.values.keys() for item in _forms_in(answer)):
        raise ApplicationUnavailableError(f"{where} shows the same form again: the values are not accepted.")
    found = {cookie.name: cookie.value for cookie in jar if cookie.value}
    if not found:
        raise ApplicationUnavailableError(
            f"{where} sets no cookie, so the browser cannot be logged in by it."
        )
    return found


def _asked(opener: OpenerDirector, address: str, sent: bytes | None = None) -> tuple[str, str]:
    """The address that answered in the end, and its page; pages of errors too, which show the form again."""
    try:
        with opener.open(Request(address, sent), timeout=_LIMIT_SECONDS) as answer:  # noqa: S310 - checked
            return answer.url, answer.read(_LONGEST_PAGE).decode(errors="replace")
    except HTTPError as error:
        with error:
            if error.code < 400 or error.code >= 500 or sent is None:
                raise
            return address, error.read(_LONGEST_PAGE).decode(errors="replace")


def _check(address: str, from_address: str, where: str) -> None:
    old, new = urlsplit(from_address), urlsplit(address)
    if (new.scheme, new.netloc) != (old.scheme, old.netloc):
        raise ApplicationUnavailableError(f"{where} leads to another server: {address}.")


class _SameServer(HTTPRedirectHandler):
    def __init__(self, where: str) -> None:
        self._where = where

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """As urllib has it, on the same server only."""
        _check(newurl, req.full_url, self._where)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Form:
    def __init__(self, attributes: Mapping[str, str | None]) -> None:
        self.action = attributes.get("action") or ""
        self.method = (attributes.get("method") or "get").casefold()
        self.values: dict[str, str] = {}


class _Forms(HTMLParser):
    """Forms with their inputs; boxes that are not ticked, and all buttons but the first, are not sent."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[_Form] = []
        self._open = False
        self._pressed = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form":
            self.found.append(_Form(attributes))
            self._open, self._pressed = True, False
        name, kind = attributes.get("name"), (attributes.get("type") or "").casefold()
        if not self._open or tag not in ("input", "button") or not name:
            return
        is_button = kind in ("submit", "image") or (tag == "button" and kind in ("", "submit"))
        if kind in ("reset", "button") or (is_button and self._pressed):
            return
        if kind in ("checkbox", "radio") and "checked" not in attributes:
            return
        self._pressed = self._pressed or is_button
        self.found[-1].values[name] = attributes.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag != "form"


def _forms_in(page: str) -> list[_Form]:
    parser = _Forms()
    parser.feed(page)
    return parser.found
