"""The one definition of "this text occurs here", used by every check (method section 2): a whole text that is
equal after folding or, in a long text, a phrase at word boundaries. Only text read from a picture may differ,
by a bounded edit distance in the letters of longer words."""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from taskloom.taskgraph.text_folding import fold_label, fold_text, same_label

LONG_TEXT_WORDS = 6
"""Minimum number of words in a long text, in which a phrase counts."""
LONG_TEXT_CHARACTERS = 48
"""Minimum length, in characters, of a text that is long even with few words."""

_INSIDE_OF_WORD = re.compile(
    r"(?<=\w)(?=\w|[-.'@]\w)|(?<=\w[-.'@])(?=\w)"
    r"|(?<=[\d\xb2\xb3\xb9])(?=[,:][\d\xb2\xb3\xb9])|(?<=[\d\xb2\xb3\xb9][,:])(?=[\d\xb2\xb3\xb9])"
)
"""Between letters and digits, next to a sign that joins two words, or next to a separator in a number."""
_PUNCTUATION = ".,;:!?()[]\"'"
_SHORTEST_MISREAD_WORD = 4
_ESCAPES = re.compile(r"\\(u[0-9a-fA-F]{4}|[\"\\/nrt])")
_ESCAPED_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t"}


def shown_in(wanted: str, shown: str) -> bool:
    """Whether `wanted` can be read in `shown`: the whole of it, or a phrase when `shown` is long.

    >>> shown_in("Save", "Save As"), shown_in("meeting notes", "Your meeting notes were saved to the server.")
    (False, True)
    """
    whole = same_label(wanted, shown) or same_content(wanted, shown)
    return whole or (is_long(shown) and has_phrase(wanted, shown))


def same_content(wanted: str, content: str) -> bool:
    """Whether `content` equals `wanted` apart from encoding and typesetting; decorative characters count.

    >>> same_content("Total:", "total:"), same_content("Total:", "Total")
    (True, False)
    """
    folded = fold_text(wanted)
    return bool(folded) and folded == fold_text(content)


def shown_exactly(wanted: str, shown: str, *, whole: bool = False) -> bool:
    r"""Whether `wanted` can be read in `shown` letter by letter, case included; white space only
    separates words.

    A phrase of a long text is enough, unless it must be the `whole`.

    >>> shown_exactly("Overview", "Overview"), shown_exactly("Overview", "overview"), shown_exactly("Over", "Overview")
    (True, False, False)
    >>> shown_exactly("Main office", "Main\n office")
    True
    """  # noqa: E501
    first, second = (" ".join(unicodedata.normalize("NFC", text).split()) for text in (wanted, shown))
    return bool(first) and (
        first == second or (not whole and is_long(shown) and find_phrase(first, second) >= 0)
    )


def is_passing(text: str) -> bool:
    """Whether a text on the screen holds a digit (a time, a count, a number that changes by itself) or no
    letter.

    >>> [is_passing(text) for text in ("pid 6, uptime 0:00:01", "Nov 22 10:09 AM", "running", "3:20", "Not started")]
    [True, True, False, True, False]
    """  # noqa: E501
    return any(character.isdigit() for character in text) or not any(map(str.isalpha, text))


def is_long(text: str) -> bool:
    """Whether `text` is prose or a document rather than a label."""
    if len(text) >= LONG_TEXT_CHARACTERS or ("\n" in text and "\n" in text.strip()):
        return True
    return len(text) >= 2 * LONG_TEXT_WORDS - 1 and len(text.split()) >= LONG_TEXT_WORDS


def has_phrase(wanted: str, text: str) -> bool:
    """Whether `text` contains `wanted` as whole words.

    A hyphen, dot, apostrophe or at sign that joins two words is part of a word, a separator between digits is
    part of a number; scripts without spaces have a boundary everywhere.

    >>> has_phrase("cat.jpg", "Moved cat.jpg."), has_phrase("cat.jpg", "cat.jpg.bak"), has_phrase("art", "start")
    (True, False, False)
    >>> has_phrase("10", "at 10:30"), has_phrase("10", "10, 20")
    (False, True)
    """  # noqa: E501
    return find_phrase(fold_text(wanted), fold_text(text)) >= 0


def document_contains(wanted: str, text: str) -> bool:
    r"""Whether a saved document of any length holds `wanted`, however its format writes the characters.

    XML and HTML entities, JSON escapes, escaped newlines and doubled SQL quotation marks are undone.

    >>> document_contains('He said "hi"', '{"a": "He said \\"hi\\""}'), document_contains("R&D", "<p>R&amp;D</p>")
    (True, True)
    """  # noqa: E501
    folded = fold_text(wanted)
    return bool(folded) and any(find_phrase(folded, reading) >= 0 for reading in _readings(text))


def find_phrase(wanted: str, text: str) -> int:
    """Where the folded phrase `wanted` starts in the folded `text` as whole words, or -1."""
    if not wanted:
        return -1
    position = text.find(wanted)
    while position >= 0:
        end = position + len(wanted)
        if _is_boundary(text, position) and _is_boundary(text, end):
            return position
        position += 1
        while position < len(text) and not _is_boundary(text, position):
            position += 1  # no phrase starts inside a word; retrying at each letter of a long one is slow
        position = text.find(wanted, position)
    return -1


def count_phrases(wanted: str, text: str) -> int:
    """How often `text` contains `wanted` as whole words, letter by letter, without overlaps.

    >>> count_phrases("Router", "Router Router"), count_phrases("Router", "Routers"), count_phrases("", "a")
    (2, 0, 0)
    """
    count, rest, wanted = 0, " ".join(text.split()), " ".join(wanted.split())
    while (start := find_phrase(wanted, rest)) >= 0:
        count, rest = count + 1, rest[start + len(wanted) :]
    return count


def read_in_picture(wanted: str, reading: str) -> bool:
    """Whether `wanted` can be made out in `reading`, a text read by OCR: the whole of it, or a phrase when it
    is long.

    One wrong letter in eight is forgiven, in words of at least four letters; numbers, signs and short words
    must be exact.

    >>> read_in_picture("Import tasks from CSV", "lmport tasks from CSV"), read_in_picture("Copy", "Crop")
    (True, False)
    >>> read_in_picture("Quarterly report 1", "Quarterly report 2")
    False
    """
    if shown_in(wanted, reading):
        return True
    wanted_words = fold_label(wanted).split(" ")
    allowed = sum(map(len, wanted_words)) // 8
    if not allowed:
        return False
    words = [word.strip(_PUNCTUATION) or word for word in fold_text(reading).split(" ")]
    length = len(wanted_words)
    if not is_long(reading) and len(words) != length:
        return False
    windows = (words[start : start + length] for start in range(len(words) - length + 1))
    return any(_misread_letters(wanted_words, window, allowed) <= allowed for window in windows)


def _is_boundary(text: str, position: int) -> bool:
    if position in (0, len(text)) or _is_spaceless(text[position - 1]) or _is_spaceless(text[position]):
        return True
    return _INSIDE_OF_WORD.match(text, position) is None


def _is_spaceless(character: str) -> bool:
    code = ord(character)
    return 0x0E00 <= code <= 0x0EFF or 0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or code >= 0x20000


@lru_cache(maxsize=128)
def _readings(text: str) -> tuple[str, ...]:
    readings = [text]
    if "&" in text and ";" in text:
        readings.append(html.unescape(text))
    if "\\" in text:
        readings.append(_ESCAPES.sub(lambda match: _unescaped(match[1]), text))
    if "''" in text:
        readings.append(text.replace("''", "'"))
    return tuple(dict.fromkeys(fold_text(reading) for reading in readings))


def _unescaped(code: str) -> str:
    return chr(int(code[1:], 16)) if code[0] == "u" else _ESCAPED_CHARACTERS.get(code, code)


def _misread_letters(wanted: Sequence[str], read: Sequence[str], limit: int) -> int:
    """Number of letters that differ; `limit + 1` if anything but a letter of a longer word differs."""
    count = 0
    for first, second in zip(wanted, read, strict=True):
        if first != second:
            letters = first.isalpha() and second.isalpha()
            if not letters or min(len(first), len(second)) < _SHORTEST_MISREAD_WORD:
                return limit + 1
            count += _distance(first, second, limit)
        if count > limit:
            return limit + 1
    return count


def _distance(first: str, second: str, limit: int) -> int:
    """Edit distance; anything over `limit` is reported as `limit + 1`."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    row = list(range(len(second) + 1))
    for index, letter in enumerate(first, start=1):
        previous, row = row, [index]
        for column, other in enumerate(second, start=1):
            row.append(min(previous[column] + 1, row[-1] + 1, previous[column - 1] + (letter != other)))
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


_UNDERLINED_HEADING = re.compile(r"^(?![#\s])(.+)\n(?:(=)=*|-+)$", re.MULTILINE)
_MARKED_HEADING = re.compile(r"^(#{1,6}) +(.*?)(?: +#+)?$\n*", re.MULTILINE)


def with_plain_headings(text: str) -> str:
    r"""Markdown with every heading marked by `#` and not followed by a blank line.

    >>> with_plain_headings("Trip\n====\n\nBy train") == with_plain_headings("# Trip #\nBy train") == "# Trip\nBy train"
    True
    """  # noqa: E501
    marked = _UNDERLINED_HEADING.sub(lambda match: f"{'#' if match[2] else '##'} {match[1]}", text)
    return _MARKED_HEADING.sub(r"\1 \2\n", marked).rstrip("\n")
