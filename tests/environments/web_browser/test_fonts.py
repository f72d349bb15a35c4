"""Texts that fall back to another font are noticed."""

from __future__ import annotations

import pytest

from tests.environments.web_browser.conftest import Screen

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGE = """<style>
@font-face { font-family: Half; src: local('Liberation Sans'); unicode-range: U+41-5A, U+61-7A }
p { font-family: sans-serif } .half { font-family: Half, 'DejaVu Sans Mono' }
</style><p>Total 12</p><p class=half>Total 12</p><p class=half>Total</p><p class=half>Preis 12 €</p>"""


async def test_a_text_whose_digits_come_from_another_font_is_noticed(screen: Screen) -> None:
    screen.now = await screen.environment.reset([screen.application("bill", index=PAGE)])
    (found,) = await screen.environment.fallback_fonts()
    assert found.startswith("'Total 12' is drawn with DejaVu Sans Mono and Liberation Sans")
