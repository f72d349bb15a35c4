"""Other values of the same shape."""

from __future__ import annotations

import re

_OTHER = "zq7"
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_NEXT_DIGIT = str.maketrans("0123456789abcdef", "123456789abcdef0")


def altered(value: str) -> str:
    """Another value of the same shape: a number is another number, a digest another digest, of a path the
    file name is changed, else the end.

    >>> altered("Documents/report.csv"), altered("Buy milk"), altered("12.50"), altered("true")
    ('Documents/reportzq7.csv', 'Buy milkzq7', '23.61', 'false')
    """
    opposite = {"true": "false", "false": "true", "0": "1", "1": "0", "on": "off", "off": "on"}
    opposite |= {"rectangle": "ellipse", "ellipse": "rectangle"}
    if value.casefold() in opposite:
        return opposite[value.casefold()]
    if _DIGEST.fullmatch(value):
        return value.translate(_NEXT_DIGIT)
    if value.replace(".", "", 1).isdigit():
        return "".join(str((int(digit) + 1) % 10) if digit.isdigit() else digit for digit in value)
    folder, slash, name = value.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if dot and stem and suffix.isalnum():
        return f"{folder}{slash}{stem}{_OTHER}.{suffix}"
    return f"{value.rstrip()}{_OTHER}"
