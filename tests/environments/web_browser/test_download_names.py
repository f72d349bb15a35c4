"""Names that downloads get on the disk."""

from __future__ import annotations

from pathlib import Path

from taskloom.environments.platforms.web_browser.environment import free_path


def test_downloads_get_names_that_a_disk_takes(tmp_path: Path) -> None:
    long = free_path(tmp_path, "ä" * 200 + ".tar.gz")
    long.touch()
    again = free_path(tmp_path, "ä" * 200 + ".tar.gz")
    assert long.name.endswith("ä.tar.gz") and again.name.endswith("ä (1).tar.gz")
    assert free_path(tmp_path, "../../etc/passwd").parent == tmp_path
    assert free_path(tmp_path, "").name == "download"
