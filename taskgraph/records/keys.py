"""Reads the key syntax of `keyboard_input` (Table 10), which is pywinauto's, into key presses.

| syntax | meaning |
|--|--|
| `abc 1` | the characters, spaces included |
| `^a`, `%a`, `+a` | with Ctrl, Alt, Shift; they combine: `^+s` |
| `^(ac)` | the modifier holds for the whole group |
| `{ENTER}`, `{TAB 2}`, `{a 5}` | a named key or character, with a repeat count |
| `{^}`, `{{}`, `{}}` | a literal special character |
| `~` | Enter |
"""

from dataclasses import dataclass

from taskloom.taskgraph.errors import KeysInvalidError

MODIFIERS = {"^": "ctrl", "%": "alt", "+": "shift"}
"""Modifier characters and their names in chords."""

_EDITING = ("enter", "tab", "space", "escape", "backspace", "delete", "insert")
_MOVING = ("home", "end", "pageup", "pagedown", "up", "down", "left", "right")
_FUNCTIONS = tuple(f"f{number}" for number in range(1, 13))
_NAMED = {name.upper(): name for name in (*_EDITING, *_MOVING, *_FUNCTIONS)}
_NAMED |= {"RETURN": "enter", "ESC": "escape", "BACK": "backspace", "BKSP": "backspace", "BS": "backspace"}
_NAMED |= {"DEL": "delete", "INS": "insert", "PGUP": "pageup", "PGDN": "pagedown", "APPS": "contextmenu"}
KEY_NAMES = frozenset(_NAMED.values())
"""Names of the keys that are not characters."""

_CONTROL_CHARACTERS = {"\n": "enter", "\r": "enter", "\t": "tab"}
_ORDER = ("ctrl", "alt", "shift")
_MAXIMUM_PRESSES = 20_000
_MAXIMUM_REPEAT = 500


@dataclass(frozen=True, slots=True)
class KeyPress:
    """One press: a named key or a character, and the modifiers held."""

    key: str
    """One character, or a name of `KEY_NAMES`."""
    modifiers: tuple[str, ...] = ()
    """Of `ctrl`, `alt`, `shift`, in this order."""

    @property
    def is_text(self) -> bool:
        """Whether the press writes a character."""
        return self.key not in KEY_NAMES and not self.modifiers

    @property
    def chord(self) -> str:
        """The press in the notation of evidence, such as `ctrl+s` or `enter`."""
        return "+".join((*self.modifiers, self.key.lower() if self.modifiers else self.key))


def read_keys(keys: str) -> tuple[KeyPress, ...]:
    r"""The presses that `keys` stands for, in order.

    A line break means Enter and a tab means Tab, as in plain text.

    >>> [press.chord for press in read_keys("^+s{TAB 2}ok")]
    ['ctrl+shift+s', 'tab', 'tab', 'o', 'k']

    Raises:
        KeysInvalidError: an unknown key name, an unclosed brace or group, a modifier with nothing after it,
            or more presses than one action may make.
    """
    presses, position = _read(keys, 0, (), in_group=False)
    if position != len(keys):
        raise KeysInvalidError(
            f"The keys {keys!r} close a group that was never opened; write a literal ')' as '{{)}}'."
        )
    if len(presses) > _MAXIMUM_PRESSES:
        raise KeysInvalidError(
            f"One action may press at most {_MAXIMUM_PRESSES} keys; this makes {len(presses)}."
        )
    return tuple(presses)


def runs(presses: tuple[KeyPress, ...]) -> list[str | KeyPress]:
    """Presses with neighbouring characters joined into text, as evidence and drivers need them."""
    joined: list[str | KeyPress] = []
    for press in presses:
        if not press.is_text:
            joined.append(press)
        elif joined and isinstance(joined[-1], str):
            joined[-1] += press.key
        else:
            joined.append(press.key)
    return joined


def _read(keys: str, position: int, held: tuple[str, ...], *, in_group: bool) -> tuple[list[KeyPress], int]:
    presses: list[KeyPress] = []
    pending: tuple[str, ...] = ()
    while position < len(keys):
        character = keys[position]
        if character in MODIFIERS:
            pending = (*pending, MODIFIERS[character])
            position += 1
            continue
        modifiers = tuple(name for name in _ORDER if name in held + pending)
        if character == ")":
            break
        if character == "(":
            group, position = _read(keys, position + 1, modifiers, in_group=True)
            presses += group
        elif character == "{":
            key, count, position = _read_braces(keys, position)
            presses += [KeyPress(key, modifiers)] * count
        else:
            presses.append(_press("\n" if character == "~" else character, modifiers))
            position += 1
        pending = ()
    if pending:
        raise KeysInvalidError(
            f"The keys {keys!r} hold {' and '.join(pending)} but name no key after it; write a literal"
            " '^', '%' or '+' in braces, such as '{+}'."
        )
    if in_group:
        if position >= len(keys):
            raise KeysInvalidError(
                f"The keys {keys!r} open a group '(' that is never closed; write a literal '(' as '{{(}}'."
            )
        position += 1
    return presses, position


def _read_braces(keys: str, position: int) -> tuple[str, int, int]:
    end = keys.find("}", position + 2)
    if end < 0:
        raise KeysInvalidError(
            f"The keys {keys!r} open a brace that is never closed; write a literal '{{' as '{{{{}}'."
        )
    content = keys[position + 1 : end]
    name, _, repeat = content.partition(" ") if len(content) > 1 else (content, "", "")
    if content.startswith(" "):
        name, repeat = " ", content[2:]
    count = 1
    if repeat:
        if not (repeat.isascii() and repeat.isdigit()) or not 0 < int(repeat) <= _MAXIMUM_REPEAT:
            raise KeysInvalidError(
                f"In the keys {keys!r}, {content!r} has no repeat count from 1 to {_MAXIMUM_REPEAT} after the"
                " space."
            )
        count = int(repeat)
    if len(name) == 1:
        return _press(name, ()).key, count, end + 1
    named = _NAMED.get(name.upper().removeprefix("VK_"))
    if named is None:
        raise KeysInvalidError(
            f"In the keys {keys!r}, {{{name}}} is not a key. Known: {', '.join(sorted(_NAMED))}; text needs"
            " no braces."
        )
    return named, count, end + 1


def _press(character: str, modifiers: tuple[str, ...]) -> KeyPress:
    if character in _CONTROL_CHARACTERS:
        return KeyPress(_CONTROL_CHARACTERS[character], modifiers)
    if modifiers == ("shift",) and character.isalpha():
        return KeyPress(character.upper())
    return KeyPress(character, modifiers)
