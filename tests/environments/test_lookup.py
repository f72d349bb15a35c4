from __future__ import annotations

import subprocess
import sys

import pytest

from taskloom.environments.errors import UnknownPlatformError
from taskloom.environments.lookup import PLATFORMS, platform


def test_lists_the_modules_of_the_platforms_folder() -> None:
    assert {"web_browser", "simulated"} <= set(PLATFORMS.built_in())


def test_an_unknown_name_is_refused_with_the_known_and_the_nearest() -> None:
    with pytest.raises(UnknownPlatformError, match=r"Did you mean 'web_browser'\? Known: .*simulated"):
        platform("web_browsre")


def test_looking_up_a_platform_does_not_import_another(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name
        for name in sys.modules
        if name.startswith("taskloom.environments.platforms.web_browser.platform")
    ]:
        monkeypatch.delitem(sys.modules, name)
    platform("simulated")
    assert "taskloom.environments.platforms.web_browser.platform" not in sys.modules


def test_the_browser_driver_is_not_imported_before_an_environment_is_made() -> None:
    code = (
        "import sys; from taskloom.environments.lookup import platform; import taskloom.environments.episode,"
        " taskloom.environments.annotated;"
        " platform('web_browser').SETTINGS.model_validate({'data_folder': 'x'});"
        " print('playwright' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
