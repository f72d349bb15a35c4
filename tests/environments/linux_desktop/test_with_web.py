"""Desktop and web applications together: what one makes, the next one takes."""

from __future__ import annotations

import pytest

from taskloom.environments.lookup import create_environment, missing_for_start, platform_of
from tests.environments.test_catalog_applications import DATA, find, perform

pytestmark = [pytest.mark.browser, pytest.mark.applications, pytest.mark.slow]

CHAINS = {
    "a table that a job writes becomes a workbook": ("supervisor.write_table", "gnumeric.convert_table"),
    "a copied text becomes a note": ("mousepad.copy_file_text", "tiddlywiki.paste_into_new_note"),
}


@pytest.mark.parametrize("chain", sorted(CHAINS))
async def test_files_and_clipboard_go_from_one_platform_to_the_other(chain: str) -> None:
    members = [(*find(name), 0) for name in CHAINS[chain]]
    applications = [application for application, _, _ in members]
    for application in applications:
        reason = missing_for_start(application, DATA)
        if reason:
            pytest.skip(reason)
    environment = create_environment(platform_of(applications), {"data_folder": DATA})
    try:
        assert await perform(environment, members) == []
    finally:
        await environment.close()
