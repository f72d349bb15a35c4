"""One name and one category for the applications that other datasets spell in many ways."""

import re
from typing import Final

UNKNOWN_CATEGORY: Final = "Unknown"
"""Category of an application that the table does not know."""

_KNOWN: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "chrome": ("Web Browsing", ("google chrome", "chromium", "browser", "chrome browser")),
    "firefox": ("Web Browsing", ("mozilla firefox",)),
    "edge": ("Web Browsing", ("microsoft edge", "msedge")),
    "gimp": ("Multimedia Editing", ("gnu image manipulation program",)),
    "libreoffice_calc": (
        "Office",
        ("calc", "libreoffice calc", "localc", "excel", "libreoffice spreadsheet"),
    ),
    "libreoffice_impress": ("Office", ("impress", "libreoffice impress", "loimpress", "powerpoint", "ppt")),
    "libreoffice_writer": ("Office", ("writer", "libreoffice writer", "lowriter", "word")),
    "libreoffice": ("Office", ("libre office", "soffice")),
    "thunderbird": ("Social Communication", ("mail", "email", "mozilla thunderbird")),
    "vlc": ("Multimedia Playback", ("vlc media player",)),
    "vs_code": ("Programming", ("vscode", "code", "visual studio code", "vsc")),
    "terminal": ("System Management", ("gnome terminal", "bash", "shell", "xterm")),
    "os": (
        "System Management",
        ("ubuntu", "operating system", "settings", "system", "gnome settings", "windows"),
    ),
    "files": ("System Management", ("nautilus", "file manager", "file explorer", "explorer")),
    "calculator": ("Utility Tools", ("gnome calculator",)),
    "pdf_viewer": ("Utility Tools", ("pdf", "evince", "document viewer")),
    "image_viewer": ("Multimedia Playback", ("picture", "eog", "image", "photo")),
}


def canonical_application(spelling: str) -> tuple[str, str]:
    """Name and category of an application as another dataset spells it; an unknown one keeps its name.

    >>> canonical_application("LibreOffice-Calc"), canonical_application("VSCode")
    (('libreoffice_calc', 'Office'), ('vs_code', 'Programming'))
    >>> canonical_application("Blender")
    ('blender', 'Unknown')
    """
    folded = " ".join(re.split(r"[\s_\-]+", spelling.strip().casefold()))
    for name, (category, aliases) in _KNOWN.items():
        if folded == name.replace("_", " ") or folded in aliases:
            return name, category
    return folded.replace(" ", "_"), UNKNOWN_CATEGORY
