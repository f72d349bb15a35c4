"""The font families that pages usually ask for, as names of the fonts that are there. Where a page knows none
of them, its digits and spaces come from an emoji font behind them. The browser takes no aliases, so the fonts
get the names themselves, in settings for fontconfig that only the browser reads."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from taskloom.resources.whole_files import write_whole

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "Liberation Sans": (
        "-apple-system",
        "BlinkMacSystemFont",
        "Segoe UI",
        "SF Pro Text",
        "SF Pro Display",
        "Roboto",
        "Helvetica Neue",
        "Ubuntu",
        "Cantarell",
        "Oxygen",
        "Noto Sans",
        "Open Sans",
        "Inter",
        "Verdana",
        "Tahoma",
        "ui-sans-serif",
    ),
    "Liberation Serif": ("Georgia", "Cambria", "Noto Serif", "ui-serif"),
    "DejaVu Sans Mono": (
        "SFMono-Regular",
        "SF Mono",
        "Menlo",
        "Monaco",
        "Consolas",
        "Ubuntu Mono",
        "Roboto Mono",
        "Noto Sans Mono",
        "Fira Code",
        "Source Code Pro",
        "ui-monospace",
    ),
}
"""Families that pages of other desktops name, by the font that stands in for them."""
VARIABLE = "FONTCONFIG_FILE"
_SYSTEM_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")
_NAME = "fonts.conf"


def font_settings(folders: Iterable[str | os.PathLike[str]], cache: Path) -> str:
    """Settings for fontconfig: fonts of `folders` and the system, with the names of `FAMILIES`."""
    lines = ['<?xml version="1.0"?>', '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">', "<fontconfig>"]
    lines += [f"  <dir>{escape(os.fspath(folder))}</dir>" for folder in (*folders, *_SYSTEM_FONTS)]
    lines += [
        f"  <cachedir>{escape(str(cache))}</cachedir>",
        '  <include ignore_missing="yes">/etc/fonts/conf.d</include>',
    ]
    for font, names in FAMILIES.items():
        lines.append(f'  <match target="scan"><test name="family"><string>{escape(font)}</string></test>')
        lines += [
            f'    <edit name="family" mode="append"><string>{escape(name)}</string></edit>' for name in names
        ]
        lines.append("  </match>")
    return "\n".join((*lines, "</fontconfig>", ""))


def settings_file(data_folder: Path) -> Path:
    """A file of settings for the fonts of the system, its cache beside it; written where it is not there."""
    folder = data_folder.resolve() / "fonts"
    file, text = folder / _NAME, font_settings((), folder / "cache")
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    return file
