"""Finds calls in a model's reply, without running them: `click(start_box='(3,4)')`,
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
"""Syntax of calls."""

LONGEST = 50_000
"""Number of characters of a reply that are read."""
_MAXIMUM_CALLS = 50
_MAXIMUM_TRIES = 200
_MAXIMUM_DEPTH = 20
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
    """A call as the model wrote it."""

    name: str
    arguments: dict[str, JsonValue] = field(default_factory=dict)
    """Named arguments."""
    positional: tuple[JsonValue, ...] = ()


def calls_in(text: str, syntaxes: tuple[Syntax, ...]) -> tuple[Call, ...]:
    r"""The calls of a reply, in order, in the first of the syntaxes that finds any.

    >>> calls_in("Action: click(start_box='<|box_start|>(3,4)<|box_end|>')", ("code",))
    (Call(name='click', arguments={'start_box': '(3,4)'}, positional=()),)
    >>> calls_in('<tool_call>{"name": "wait", "arguments": {"time": 2}}</tool_call>', ("json",))
    (Call(name='wait', arguments={'time': 2}, positional=()),)
    >>> calls_in("<function=type><parameter=content>a\nb</parameter></function>", ("xml",))
    (Call(name='type', arguments={'content': 'a\nb'}, positional=()),)
    """
    for syntax in syntaxes:
        calls = tuple(islice(_READERS[syntax](text[:LONGEST]), _MAXIMUM_CALLS))
        if calls:
            return calls
    return ()


def _code_calls(text: str) -> Iterator[Call]:
    """Calls in the code of a reply: the last box, else the last fence, else after the last `Action:`."""
    actions = _ACTION.finditer(text)
    parts = _BOX.findall(text) or _FENCE.findall(text) or [text[item.end() :] for item in actions]
    code = _TOKENS.sub("", parts[-1] if parts else text).strip().strip("`")
    try:
        statements = parse_source(code).body
        yield from [call for statement in statements if (call := _read_statement(statement)) is not None]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _scan_calls(code)


def _read_statement(statement: ast.stmt) -> Call | None:
    """The call in a statement, with literal arguments; None for any other statement."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    named = {item.arg: _to_json(ast.literal_eval(item.value)) for item in call.keywords if item.arg}
    return Call(str(name), named, tuple(_to_json(ast.literal_eval(item)) for item in call.args))


def _to_json(value: object) -> JsonValue:
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def _scan_calls(code: str) -> Iterator[Call]:
    """Calls in almost valid code, with unescaped quotes or line breaks inside texts."""
    position = 0
    while (head := _HEAD.search(code, position)) is not None:
        named: dict[str, JsonValue] = {}
        positional: list[JsonValue] = []
        position = head.end()
        while position < len(code) and code[position] != ")":
            keyword = _KEYWORD.match(code, position)
            assert keyword is not None
            value, position = _scan_value(code, keyword.end())
            if keyword[1]:
                named[keyword[1]] = value
            elif value != "":
                positional.append(value)
            if position < len(code) and code[position] not in ",)":
                break
            position += position < len(code) and code[position] == ","
        yield Call(head[1], named, tuple(positional))


def _scan_value(code: str, position: int) -> tuple[JsonValue, int]:
    """A value and its end; a quoted text ends at a quote followed by what may follow an argument."""
    quote = code[position] if position < len(code) else ""
    if quote not in ("'", '"'):
        depth, start = 0, position
        while position < len(code) and (depth or code[position] not in ",)"):
            depth += (code[position] in "([") - (code[position] in ")]")
            position += 1
        return code[start:position].strip(), position
    characters: list[str] = []
    position += 1
    while position < len(code):
        if code[position] == "\\" and position + 1 < len(code):
            characters.append(_ESCAPES.get(code[position + 1], code[position + 1]))
            position += 2
            continue
        if code[position] == quote and (end := _QUOTED_END.match(code, position + 1)) is not None:
            position += 1
            return "".join(characters), position + (len(end.group()) - len(end.group().lstrip()))
        characters.append(code[position])
        position += 1
    return "".join(characters), position


def _json_calls(text: str) -> Iterator[Call]:
    """Calls in JSON: in tool calls, or else in the whole text."""
    for part in _TOOL_CALL.findall(text) or [text]:
        yield from _calls_in_objects(part)


def _calls_in_objects(text: str) -> Iterator[Call]:
    position = 0
    for _ in range(_MAXIMUM_TRIES):
        starts = [start for bracket in "{[" if (start := text.find(bracket, position)) >= 0]
        if not starts:
            return
        position = min(starts)
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
        else:
            yield from _calls_in_value(value, _MAXIMUM_DEPTH)


def _calls_in_value(value: JsonValue, depth: int) -> Iterator[Call]:
    if isinstance(value, list):
        for item in value if depth else ():
            yield from _calls_in_value(item, depth - 1)
        return
    if not isinstance(value, dict) or not depth:
        return
    for wrapper in _WRAPPERS:
        inner = value.get(wrapper)
        if isinstance(inner, (dict, list)) and inner:
            yield from _calls_in_value(inner, depth - 1)
            return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    if not name:
        return
    arguments = next((value[key] for key in _ARGUMENTS if value.get(key) is not None), None)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = None
    if not isinstance(arguments, dict):
        arguments = {key: item for key, item in value.items() if key not in (*_NAMES[:3], *_ARGUMENTS)}
    yield Call(str(name), dict(arguments))


def _xml_calls(text: str) -> Iterator[Call]:
    for name, body in _FUNCTION.findall(text):
        yield Call(name, {key: value.strip("\n") for key, value in _PARAMETER.findall(body)})


_READERS: dict[Syntax, Callable[[str], Iterator[Call]]] = {
    "code": _code_calls,
    "json": _json_calls,
    "xml": _xml_calls,
}
