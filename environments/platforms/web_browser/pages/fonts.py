"""Texts of a page that are drawn by a font that was not meant for them."""

from collections.abc import Iterator
from typing import Any, Final

from playwright.async_api import Page

_MOST_TEXTS: Final = 400
_TEXT_NODE: Final = 3
_LONGEST: Final = 30
_PICTURES: Final = "emoji"


async def fallback_fonts(page: Page) -> list[str]:
    """Plain texts (letters, digits and spaces of ASCII) that no one font draws whole, or a font of pictures,
    each with its fonts: so a page looks whose families are not here."""
    session = await page.context.new_cdp_session(page)
    try:
        await session.send("DOM.enable")
        await session.send("CSS.enable")
        document = await session.send("DOM.getDocument", {"depth": -1, "pierce": True})
        found: dict[str, None] = {}
        for number, (node, text) in enumerate(_plain_texts(document["root"])):
            if number >= _MOST_TEXTS:
                break
            used = await session.send("CSS.getPlatformFontsForNode", {"nodeId": node})
            names = sorted({str(font["familyName"]) for font in used["fonts"]})
            if len(names) > 1 or any(_PICTURES in name.lower() for name in names):
                found[f"{text[:_LONGEST]!r} is drawn with {' and '.join(names)}"] = None
        return list(found)
    finally:
        await session.detach()


def _plain_texts(node: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Elements that hold nothing but one plain text, with it."""
    inside = [*node.get("children", ()), *node.get("shadowRoots", ())]
    if isinstance(node.get("contentDocument"), dict):
        inside.append(node["contentDocument"])
    if len(inside) == 1 and inside[0]["nodeType"] == _TEXT_NODE:
        text = " ".join(inside[0]["nodeValue"].split())
        if text and all(
            character.isascii() and (character.isalnum() or character == " ") for character in text
        ):
            yield node["nodeId"], text
        return
    for child in inside:
        yield from _plain_texts(child)
