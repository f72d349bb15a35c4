"""Whether people see two texts as equal; `COMPARING` states the rules. `fold_text` removes differences of
encoding and typesetting; `fold_label` also removes decoration from the name of a control. Neither equates
words that a person reads as different: no edit distance, no prefix rule. Also shortens long texts."""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps

_PLAIN_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    }
)
_MNEMONIC = re.compile(r"&&|(?<!\w)&(?=\w)|(?<=\w)&(?=[a-z\u00df-\u00ff]\w)(?![a-z]+;)")
_ORNAMENT_BEFORE = re.compile(r"^(?:[*\u25cf\u2022\u2713\u2714\u25b8\u25b6\u25ba\u25be\u25bc]\s*)+(?=\S)")
_ORNAMENTS_AFTER = " :*\u25b8\u25b6\u25ba\u25be\u25bc\u23f7\u203a"
_SHORTCUT = re.compile(
    r"(?:^|\s|\s?\()(?:(?:ctrl|control|alt|shift|cmd|command|meta|super|option)\s?\+\s?)+"
    r"(?:[^\s()]|f\d\d?|enter|return|tab|esc|escape|space|del|delete|ins|insert|backspace|home|end|page"
    r" ?up|page ?down"
    r"|up|down|left|right)\)?$"
)
_LINE_END = re.compile(r"\r\n|\r|\n")
COMPARING = """\
Texts are compared in one of three ways, and each check says which. In all of them a byte order mark at the beginning of a
file, and whether accents are composed, make no difference.
Exactly: case, every space inside of a line and every empty line before the last text count. A line ends with CR LF, CR or LF
and nothing else; which of them, and spaces, tabs and line ends at the end of a line and of the text do not count.
As a value (fields of records): as exactly; besides, typographic quotation marks and dashes are the plain ones, tabs are spaces,
invisible characters are left out; numbers are compared as numbers.
As a phrase (labels, texts that are contained): besides, case does not count and all white space is one space; whole words only.
Of a file whose text was not kept whole, or is in an encoding that cannot be told, only what is certain is answered; anything
else makes the whole evaluation unavailable, which is neither passed nor failed."""  # noqa: E501
"""How checks compare texts, for writers of evaluation functions."""
_CACHED_LENGTH = 500
"""Longest text that counts as short: names of controls recur, documents are large."""
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_PLAIN_ASCII_PUNCTUATION = str.maketrans({"`": "'"})


def _cached(fold: Callable[[str], str]) -> Callable[[str], str]:
    """`fold` with a cache of results: a large one for short texts, a small one for documents."""
    short, long = lru_cache(maxsize=32_768)(fold), lru_cache(maxsize=256)(fold)

    @wraps(fold)
    def folded(text: str) -> str:
        return short(text) if len(text) <= _CACHED_LENGTH else long(text)

    return folded


@_cached
def fold_text(text: str) -> str:
    r"""Fold a text's encoding and typesetting: NFKC, case, white space, quotation marks, dashes, invisible
    characters.

    >>> fold_text("  Don\u2019t\u00a0SAVE\n")
    "don't save"
    >>> fold_text("cat.jpg") == fold_text("car.png")
    False
    """
    visible = _visible(text)
    if text.isascii():
        return " ".join(visible.casefold().split())
    folded = unicodedata.normalize("NFKC", visible.casefold()).casefold()
    return " ".join(folded.split())


def composed(text: str) -> str:
    r"""`text` in composed Unicode (NFC), the normal form in which paths and contents are stored and compared.

    >>> composed("Cafe\u0301") == "Caf\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def exact_text(text: str) -> str:
    r"""The normal form of a whole text for exact comparison: see `COMPARING`.

    >>> exact_text("one \r\ntwo\n"), exact_text("\n\none"), exact_text("one\x0ctwo"), exact_text("one\u2028two")
    ('one\ntwo', '\n\none', 'one\x0ctwo', 'one\u2028two')
    """  # noqa: E501
    return _without_line_ends(composed(text))


def written_out(text: str) -> str:
    r"""The normal form of a value: like `exact_text`, without differences of encoding and typesetting.

    >>> written_out("Don\u2019t SAVE\n"), written_out(" Grace"), written_out("one \r\ntwo\n")
    ("Don't SAVE", ' Grace', 'one\ntwo')
    """
    visible = _visible(text).replace("\t", " ")
    return _without_line_ends(visible) if _LINE_END.search(visible) else visible


def _without_line_ends(text: str) -> str:
    return "\n".join(line.rstrip(" \t") for line in _LINE_END.split(text)).rstrip("\n")


def _visible(text: str) -> str:
    if text.isascii():
        return _INVISIBLE.sub("", text.translate(_PLAIN_ASCII_PUNCTUATION))
    typeset = unicodedata.normalize("NFKC", text.translate(_PLAIN_PUNCTUATION)).translate(_PLAIN_PUNCTUATION)
    return "".join(
        character
        for character in typeset
        if character.isspace() or unicodedata.category(character) not in ("Cf", "Cc")
    )


@_cached
def fold_label(text: str) -> str:
    r"""Fold the name of a control: `fold_text`, without the decoration of labels.

    >>> fold_label("  &Save\u00a0As\u2026 "), fold_label("E&xit"), fold_label("Cut & Paste"), fold_label("R&D")
    ('save as', 'exit', 'cut & paste', 'r&d')
    >>> fold_label("Copy\tCtrl+C"), fold_label("Title:"), fold_label("*report.csv"), fold_label("+")
    ('copy', 'title', 'report.csv', '+')
    """  # noqa: E501
    name, tab, shortcut = text.strip().partition("\t")
    if tab and name and _SHORTCUT.fullmatch(fold_text(shortcut)):
        text = name
    folded = fold_text(_MNEMONIC.sub(lambda match: "&" if match.group() == "&&" else "", text))
    bare, longer = _ORNAMENT_BEFORE.sub("", folded), ""
    while bare != longer:
        longer, bare = bare, bare.rstrip(_ORNAMENTS_AFTER)
        bare = bare.rstrip(".") if bare.endswith("...") else bare
    return bare or folded


def same_label(wanted: str, shown: str) -> bool:
    r"""Whether a control that shows `shown` is what a person means by `wanted`.

    `wanted` may omit a keyboard shortcut shown after the name; if both texts name a shortcut, it must be the
    same one.

    >>> same_label("Save", "&Save\u2026"), same_label("Save", "Save As"), same_label("Bold", "Bold (Ctrl+B)")
    (True, False, True)
    >>> same_label("", "")
    False
    """
    if max(len(wanted), len(shown)) > _CACHED_LENGTH:
        folded = fold_text(wanted)  # a document has no decoration
        return bool(folded) and folded == fold_text(shown)
    first, second = fold_label(wanted), fold_label(shown)
    if not first or not second:
        return False
    if first == second:
        return True
    # Every shortcut contains a plus sign, but few labels do.
    if "+" not in second or ("+" in first and _SHORTCUT.search(first)):
        return False
    shortcut = _SHORTCUT.search(second)
    name = "" if shortcut is None else second[: shortcut.start()]
    return bool(name) and first == fold_label(name)


_CUT = re.compile(r"… sha256:([0-9a-f]{16})\Z")
_MARK_LENGTH = len("… sha256:") + 16


def cut_text(text: str, limit: int) -> str:
    """`text`, or its first `limit` characters followed by the hash of the whole.

    >>> cut_text("abc", 3), cut_text("abcd", 3)
    ('abc', 'abc… sha256:88d4266fd4e6338d')
    """
    return text if len(text) <= limit else f"{text[:limit]}… sha256:{_digest(text)}"


def is_cut_of(cut: str, whole: str) -> bool:
    """Whether `cut` is `whole` as shortened by `cut_text`.

    >>> is_cut_of(cut_text("abcd", 3), "abcd"), is_cut_of(cut_text("abcd", 3), "abce")
    (True, False)
    """
    mark = _CUT.search(cut[-_MARK_LENGTH:])
    return mark is not None and mark.group(1) == _digest(whole)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
