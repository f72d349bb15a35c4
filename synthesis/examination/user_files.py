"""Which files belong to the user."""

from __future__ import annotations

USER_FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Videos")
"""Folders of the sandbox home whose files belong to the user; elsewhere applications keep their state."""
