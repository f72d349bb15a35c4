"""Finds calls in what a model says, and never runs them: `click(start_box='(3,4)')`,
`{"name": …, "arguments": …}`, `<function=…><parameter=…>`."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from pydantic import JsonValue

from taskloom.taskgraph.records.evaluation_function import parse_source

Syntax = Literal["code", "json", "xml"]
"""How calls are written."""

LONGEST = 50_000
"""Characters of a reply that are read."""
_MOST_CALLS = 50
_MOST_TRIES = 200
_DEEPEST = 20
_ARGUMENTS = ("arguments", "args", "parameters", "input")
_NAMES = ("name", "tool_name", "function", "action")
_WRAPPERS = ("tool_call", "tool_calls", "function_call", "action", "actions", "function")
_BOX = re.compile(r"<\|begin_of_box\|>(.*?)(?:<\|end_of_box\|>|$)", re.DOTALL)
_FENCE = re.compile(r"```(?:\w+[ ]*\n|[ ]*\n)?(.*?)(?:```|$)", re.DOTALL)
_ACTION = re.compile(r"^[^\w\n]*Action[^\w\n]*:", re.MULTILINE)
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|$)", re.DOTALL)
_TOKENS = re.compile(r"<\|/?\w+\|>")
_HEAD = re.compile(r"(?<!\w)(\w+)\s*\(")
_KEYWORD = re.compile(r"\s*(?:(\w+)\s*=\s*)?")
_QUOTED_END = re.compile(r"\s*(?:,\s*\w+\s*=|,\s*['\"\d\[(]|\)|$)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|(?=<function=)|$)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>(.*?)(?:</parameter>|(?=<parameter=)|$)", re.DOTALL)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was written."""

    name: str
    arguments: dict[str, JsonValue] = field(default_factory=dict)
    """Its named arguments."""
    positional: tuple[JsonValue, ...] = ()


def calls_in(text: str, syntaxes: tuple[Syntax, ...]) -> tuple[Call, ...]:
    r"""The calls of a reply, in order, in the first of the syntaxes that has any.

    >>> calls_in("Action: click(start_box='<|box_start|>(3,4)<|box_end|>')", ("code",))
    (Call(name='click', arguments={'start_box': '(3,4)'}, positional=()),)
    >>> calls_in('<tool_call>{"name": "wait", "arguments": {"time": 2}}</tool_call>', ("json",))
    (Call(name='wait', arguments={'time': 2}, positional=()),)
    >>> calls_in("<function=type><parameter=content>a\nb</parameter></function>", ("xml",))
    (Call(name='type', arguments={'content': 'a\nb'}, positional=()),)
    """
    for syntax in syntaxes:
        found = tuple(islice(_READERS[syntax](text[:LONGEST]), _MOST_CALLS))
        if found:
            return found
    return ()


def _code_calls(text: str) -> Iterator[Call]:
    """Calls in the part of a reply that is code: a box, a fence, or what follows `Action:`; the last of
    them."""
    action = list(_ACTION.finditer(text))
    parts = _BOX.findall(text) or _FENCE.findall(text) or [text[item.end() :] for item in action]
    code = _TOKENS.sub("", parts[-1] if parts else text).strip().strip("`")
    try:
        statements = parse_source(code).body
        yield from [found for statement in statements if (found := _call_of(statement)) is not None]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _scanned(code)


def _call_of(statement: ast.stmt) -> Call | None:
    """The call of a statement with literal arguments; None for imports, comments and other words."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    named = {item.arg: _plain(ast.literal_eval(item.value)) for item in call.keywords if item.arg}
    return Call(str(name), named, tuple(_plain(ast.literal_eval(item)) for item in call.args))


def _plain(value: object) -> JsonValue:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def _scanned(code: str) -> Iterator[Call]:
    """Calls that are almost code: quotes inside of texts that nobody escaped, line breaks inside of them."""
    place = 0
    while (head := _HEAD.search(code, place)) is not None:
        named: dict[str, JsonValue] = {}
        positional: list[JsonValue] = []
        place = head.end()
        while place < len(code) and code[place] != ")":
            keyword = _KEYWORD.match(code, place)
            assert keyword is not None
            value, place = _value(code, keyword.end())
            if keyword[1]:
                named[keyword[1]] = value
            elif value != "":
                positional.append(value)
            if place < len(code) and code[place] not in ",)":
                break
            place += place < len(code) and code[place] == ","
        yield Call(head[1], named, tuple(positional))


def _value(code: str, place: int) -> tuple[JsonValue, int]:
    """A value and where it ends: a quoted text ends where what follows looks like the end of one."""
    quote = code[place] if place < len(code) else ""
    if quote not in ("'", '"'):
        depth, start = 0, place
        while place < len(code) and (depth or code[place] not in ",)"):
            depth += (code[place] in "([") - (code[place] in ")]")
            place += 1
        return code[start:place].strip(), place
    written: list[str] = []
    place += 1
    while place < len(code):
        if code[place] == "\\" and place + 1 < len(code):
            written.append(_ESCAPES.get(code[place + 1], code[place + 1]))
            place += 2
            continue
        if code[place] == quote and (end := _QUOTED_END.match(code, place + 1)) is not None:
            place += 1
            return "".join(written), place + (len(end.group()) - len(end.group().lstrip()))
        written.append(code[place])
        place += 1
    return "".join(written), place


def _json_calls(text: str) -> Iterator[Call]:
    """Calls in JSON: that of tool calls, or else all there is."""
    for part in _TOOL_CALL.findall(text) or [text]:
        yield from _calls_of_objects(part)


def _calls_of_objects(text: str) -> Iterator[Call]:
    place = 0
    for _ in range(_MOST_TRIES):
        starts = [at for sign in "{[" if (at := text.find(sign, place)) >= 0]
        if not starts:
            return
        place = min(starts)
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
        else:
            yield from _calls_of_json(value, _DEEPEST)


def _calls_of_json(value: JsonValue, depth: int) -> Iterator[Call]:
    if isinstance(value, list):
        for item in value if depth else ():
            yield from _calls_of_json(item, depth - 1)
        return
    if not isinstance(value, dict) or not depth:
        return
    for wrapper in _WRAPPERS:
        inner = value.get(wrapper)
        if isinstance(inner, (dict, list)) and inner:
            yield from _calls_of_json(inner, depth - 1)
            return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    if not name:
        return
    given = next((value[key] for key in _ARGUMENTS if value.get(key) is not None), None)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    if not isinstance(given, dict):
        given = {key: item for key, item in value.items() if key not in (*_NAMES[:3], *_ARGUMENTS)}
    yield Call(str(name), dict(given))


def _xml_calls(text: str) -> Iterator[Call]:
    for name, body in _FUNCTION.findall(text):
        yield Call(name, {key: value.strip("\n") for key, value in _PARAMETER.findall(body)})


_READERS: dict[Syntax, Callable[[str], Iterator[Call]]] = {
    "code": _code_calls,
    "json": _json_calls,
    "xml": _xml_calls,
}
