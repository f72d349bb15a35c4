"""How wide text is on a page, near enough to keep it inside a box without asking a font.

The widths are those of DejaVu Sans, the widest of the sans-serif fonts that browsers choose, rounded up.
"""

from __future__ import annotations

from unicodedata import combining, east_asian_width

_EMS = {
    **dict.fromkeys("ijlI.,:;'|! ", 0.32),
    **dict.fromkeys('frt-()[]{}/\\`"_', 0.52),
    **dict.fromkeys("mw@%WMOQ…", 1.0),
    **dict.fromkeys("ABCDEFGHJKLNPRSTUVXYZ+=<>~&", 0.8),
}
_ORDINARY, _WIDE, _OTHER = 0.64, 1.25, 0.85


def text_width(text: str, size: float) -> float:
    """Pixels that `text` takes at most, in letters of `size` pixels.

    >>> text_width("ill", 10) < text_width("www", 10) < text_width("表計算", 10)
    True
    """
    return size * sum(_em(letter) for letter in text)


def _em(letter: str) -> float:
    if combining(letter):
        return 0.0
    if letter in _EMS:
        return _EMS[letter]
    if letter.isascii():
        return _ORDINARY
    return _WIDE if east_asian_width(letter) in "WF" else _OTHER


def fitted(text: str, pixels: float, size: float) -> str:
    """`text` on one line of at most so many `pixels`, the last letter an ellipsis where something is left
    out.

    >>> fitted("export the table", 60, 10), fitted("export", 60, 10)
    ('export t…', 'export')
    """
    line = " ".join(text.split())
    if text_width(line, size) <= pixels:
        return line
    while line and text_width(line + "…", size) > pixels:
        line = line[:-1]
    return line.rstrip(" ,;") + "…"


def wrapped(text: str, pixels: float, size: float, lines: int) -> list[str]:
    """`text` on at most so many lines, broken between words where that is possible; what does not fit is cut.

    >>> wrapped("export the table", 70, 10, 2), wrapped("export the table", 70, 10, 1)
    (['export the', 'table'], ['export the…'])
    """
    words = text.split()
    found: list[str] = []
    while words and len(found) < lines - 1:
        line = ""
        while words and text_width(f"{line} {words[0]}".lstrip(), size) <= pixels:
            line = f"{line} {words.pop(0)}".lstrip()
        if not line:
            word = words[0]
            end = next(
                (count for count in range(1, len(word)) if text_width(word[: count + 1], size) > pixels),
                len(word),
            )
            line, words[0] = word[:end], word[end:]
        found.append(line)
    if words or not found:
        found.append(fitted(" ".join(words), pixels, size))
    return found
