"""What models say in every format: how they write a click, and recorded replies with what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from taskloom.omnieval.replies.verbs import Ending
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Point

Meant = list[ComputerAction] | Ending


@dataclass(frozen=True, slots=True)
class Said:
    """The sayings of one format, at a screen of 1280 by 800."""

    click: Callable[[float, float], str]
    replies: list[tuple[str, Meant]]


def click(*path: Point, times: int = 1, button: str = "left") -> ComputerAction:
    return ComputerAction.model_validate({"kind": "click", "path": path, "times": times, "button": button})


def drag(*path: Point) -> ComputerAction:
    return ComputerAction(kind="drag", path=path)


def typed(text: str) -> ComputerAction:
    return ComputerAction(kind="type", text=text)


def press(*keys: str) -> ComputerAction:
    return ComputerAction(kind="press", keys=keys)


def scroll(up: int, *path: Point) -> ComputerAction:
    return ComputerAction(kind="scroll", path=path, wheel=(0, up))


def wait(seconds: float) -> ComputerAction:
    return ComputerAction(kind="wait", seconds=seconds)


def _box(x: float, y: float) -> str:
    return f"<|box_start|>({x},{y})<|box_end|>"


def _ui_tars(place: Callable[[float, float], str]) -> Callable[[float, float], str]:
    return lambda x, y: f"Action: click({place(x, y)})"


def _qwen(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "computer_use", "arguments": {arguments}}}\n</tool_call>'


def _xml(function: str, **parameters: str) -> str:
    inner = "".join(f"<parameter={key}>{value}</parameter>" for key, value in parameters.items())
    return f"<function={function}>{inner}</function>"


def _code(*lines: str) -> str:
    return "## Code\n```python\n" + "\n".join(lines) + "\n```"


def _box_marks(call: str) -> str:
    return f"Action: <|begin_of_box|>{call}<|end_of_box|>\nMemory: []"


def _holo(call: str) -> str:
    return '{"note": "", "thought": "The button is there.", "tool_call": ' + call + "}"


def _called(name: str, arguments: str) -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


_UI_TARS: list[tuple[str, Meant]] = [
    ("Action: type(content='It\\'s 50%\\n')", [typed("It's 50%\n")]),
    ("Action: hotkey(key='ctrl c')", [press("ctrl", "c")]),
    ("Action: wait()", [wait(1)]),
    ("Thought: Done.\nAction: finished(content='three notes')", Ending("finish", "three notes")),
    ("Action: call_user()", Ending("ask_user", "")),
]
_PYAUTOGUI: list[tuple[str, Meant]] = [
    (_code("import pyautogui", "pyautogui.write(message='a (b)')"), [typed("a (b)")]),
    (_code("pyautogui.hotkey(['ctrl', 'c'])"), [press("ctrl", "c")]),
    (_code("pyautogui.press(['tab', 'tab'])"), [press("tab"), press("tab")]),
    (_code("pyautogui.scroll(-3)"), [scroll(-3)]),
    (_code("computer.wait()"), [wait(1)]),
    (_code("computer.terminate(status='success')"), Ending("finish", "")),
    (_code("computer.terminate(status='failure')"), Ending("give_up", "")),
]
SAID: dict[str, Said] = {
    "ui_tars_1": Said(
        _ui_tars(lambda x, y: f"start_box='{_box(x, y)}'"),
        [
            *_UI_TARS,
            (
                f"Thought: So.\nAction: drag(start_box='{_box(100, 100)}', end_box='{_box(500, 500)}')",
                [drag((128, 80), (640, 400))],
            ),
            ("Action: left_double(start_box='[90,90,110,110]')", [click((128, 80), times=2)]),
            (f"Action: right_single(start_box='{_box(100, 100)}')", [click((128, 80), button="right")]),
            (f"Action: scroll(start_box='{_box(500, 500)}', direction='down')", [scroll(-5, (640, 400))]),
        ],
    ),
    "ui_tars_1_5": Said(
        _ui_tars(lambda x, y: f"start_box='{_box(x, y)}'"),
        [*_UI_TARS, ("Action: click(start_box='(644,406)')", [click((640, 400))])],
    ),
    "ui_tars_doubao": Said(
        _ui_tars(lambda x, y: f"point='<point>{x} {y}</point>'"),
        [
            *_UI_TARS,
            (
                "Action: drag(start_point='<point>0 0</point>', end_point='<point>500 500</point>')",
                [drag((0, 0), (640, 400))],
            ),
        ],
    ),
    "ui_tars_2": Said(
        lambda x, y: f"<seed:tool_call>{_xml('click', point=f'<point>{x} {y}</point>')}</seed:tool_call>",
        [
            (
                _xml("type", content="a\nb") + _xml("press", key="shift"),
                [typed("a\nb"), ComputerAction(kind="key_down", keys=("shift",))],
            ),
            (_xml("release", key="shift"), [ComputerAction(kind="key_up", keys=("shift",))]),
            (
                _xml("mouse_down", point="<point>500 500</point>"),
                [ComputerAction(kind="button_down", path=((640, 400),))],
            ),
            (_xml("take_screenshot"), [ComputerAction(kind="screenshot")]),
            (_xml("finished", content="yes"), Ending("finish", "yes")),
            (_xml("call_user", content="Which one?"), Ending("ask_user", "Which one?")),
        ],
    ),
    "qwen3_vl": Said(
        lambda x, y: "Action: Click.\n" + _qwen(f'{{"action": "left_click", "coordinate": [{x}, {y}]}}'),
        [
            (_qwen('{"action": "key", "keys": ["ctrl", "s"]}'), [press("ctrl", "s")]),
            (_qwen('{"action": "type", "text": "a"}'), [typed("a")]),
            (_qwen('{"action": "scroll", "pixels": -5, "coordinate": [500, 500]}'), [scroll(-5, (640, 400))]),
            (_qwen('{"action": "scroll", "pixels": -900}'), [scroll(-30)]),
            (
                _qwen('{"action": "left_click_drag", "coordinate": [500, 500]}'),
                [
                    ComputerAction(kind="button_down"),
                    ComputerAction(kind="move", path=((640, 400),)),
                    ComputerAction(kind="button_up"),
                ],
            ),
            (_qwen('{"action": "wait", "time": 2}'), [wait(2)]),
            (_qwen('{"action": "answer", "text": "42"}'), Ending("finish", "42")),
            (_qwen('{"action": "terminate", "status": "success"}'), Ending("finish", "")),
            (_qwen('{"action": "terminate", "status": "failure"}'), Ending("give_up", "")),
        ],
    ),
    "qwen3_5": Said(
        lambda x, y: (
            "<tool_call>"
            + _xml("computer_use", action="left_click", coordinate=f"[{x}, {y}]")
            + "</tool_call>"
        ),
        [
            (
                _xml("computer_use", action="left_click", coordinate="[0, 0]")
                + _xml("computer_use", action="type", text="x"),
                [click((0, 0)), typed("x")],
            ),
            (_xml("computer_use", action="key", keys='["ctrl", "c"]'), [press("ctrl", "c")]),
            (
                _xml("computer_use", action="hscroll", pixels="3"),
                [ComputerAction(kind="scroll", wheel=(3, 0))],
            ),
            (_qwen('{"action": "triple_click", "coordinate": [0, 0]}'), [click((0, 0), times=3)]),
            (_xml("computer_use", action="call_user", text="Who?"), Ending("ask_user", "Who?")),
            (_xml("computer_use", action="terminate", status="success"), Ending("finish", "")),
        ],
    ),
    "opencua": Said(
        lambda x, y: "## Action\nClick.\n" + _code(f"pyautogui.click(x={x}, y={y})"),
        [
            *_PYAUTOGUI,
            (
                _code("pyautogui.moveTo(644, 406)", "pyautogui.dragTo(0, 0)"),
                [
                    ComputerAction(kind="move", path=((640, 400),)),
                    ComputerAction(kind="button_down"),
                    ComputerAction(kind="move", path=((0, 0),)),
                    ComputerAction(kind="button_up"),
                ],
            ),
            (_code("computer.triple_click(x=644, y=406)"), [click((640, 400), times=3)]),
            (_code("pyautogui.click(644, 406, clicks=2)"), [click((640, 400), times=2)]),
        ],
    ),
    "kimi": Said(
        lambda x, y: _code(f"pyautogui.click(x={x}, y={y})"),
        [*_PYAUTOGUI, (_code("pyautogui.rightClick(x=0.5, y=0.5)"), [click((640, 400), button="right")])],
    ),
    "glm_4_5v": Said(
        lambda x, y: _box_marks(f"left_click(start_box='[{x},{y}]', element_info='a \"b\" (c)')"),
        [
            (_box_marks("left_double_click(start_box='[0,0]')"), [click((0, 0), times=2)]),
            (_box_marks("left_drag(start_box='[0,0]', end_box='[0,0]')"), [drag((0, 0), (0, 0))]),
            (_box_marks("key(keys='ctrl+shift+s')"), [press("ctrl", "shift", "s")]),
            (_box_marks("type(content='It's fine')"), [typed("It's fine")]),
            (_box_marks("scroll(start_box='[0,0]', direction='up', step=2)"), [scroll(2, (0, 0))]),
            (_box_marks("WAIT()"), [wait(1)]),
            (_box_marks("DONE()"), Ending("finish", "")),
            (_box_marks("FAIL()"), Ending("give_up", "")),
        ],
    ),
    "holo": Said(
        lambda x, y: _holo(f'{{"tool_name": "click_desktop", "x": {x}, "y": {y}}}'),
        [
            (
                _holo('{"tool_name": "write_at_desktop", "x": 0, "y": 0, "content": "a"}'),
                [click((0, 0)), typed("a")],
            ),
            (_holo('{"tool_name": "hotkey_desktop", "keys": "ctrl+c"}'), [press("ctrl", "c")]),
            (
                _holo('{"tool_name": "drag_and_drop_desktop", "x1": 0, "y1": 0, "x2": 500, "y2": 500}'),
                [drag((0, 0), (640, 400))],
            ),
            (_holo('{"tool_name": "answer", "content": "42"}'), Ending("finish", "42")),
        ],
    ),
    "gemini": Said(
        lambda x, y: _called("click_at", f'{{"x": {x}, "y": {y}}}'),
        [
            (
                _called(
                    "type_text_at",
                    '{"x": 0, "y": 0, "text": "a", "press_enter": true, "clear_before_typing": true}',
                ),
                [click((0, 0)), press("ctrl", "a"), press("delete"), typed("a"), press("enter")],
            ),
            (
                _called("scroll_at", '{"x": 0, "y": 0, "direction": "down", "magnitude": 300}'),
                [scroll(-3, (0, 0))],
            ),
            (_called("key_combination", '{"keys": "Control+A"}'), [press("Control", "A")]),
            (
                _called("drag_and_drop", '{"x": 0, "y": 0, "destination_x": 500, "destination_y": 500}'),
                [drag((0, 0), (640, 400))],
            ),
            (_called("go_back", "{}"), [press("alt", "left")]),
            (_called("wait_5_seconds", "{}"), [wait(5)]),
            (_called("finished", '{"text": "42"}'), Ending("finish", "42")),
            (_called("give_up", '{"reason": "no such page"}'), Ending("give_up", "no such page")),
        ],
    ),
    "yutori_n1": Said(
        lambda x, y: _called("left_click", f'{{"coordinates": [{x}, {y}]}}'),
        [
            (
                _called("drag", '{"start_coordinates": [0, 0], "coordinates": [500, 500]}'),
                [drag((0, 0), (640, 400))],
            ),
            (_called("key_press", '{"key_comb": "Enter"}'), [press("Enter")]),
            (_called("stop", '{"answer": "42"}'), Ending("finish", "42")),
        ],
    ),
}
