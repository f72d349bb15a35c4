"""Agents that ask a model: a row each, keyed by the name that `--agent` and an experiment call it.

A model that was trained for a format of its own is asked in it (`spoken`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.environments.agent import Agent
from taskloom.omnieval.asking.provider_tool import check_tool_settings, tool_agent
from taskloom.omnieval.asking.spoken import SpokenAgent
from taskloom.omnieval.asking.typed import Shows, TypedAgent
from taskloom.omnieval.brief import AgentBrief
from taskloom.omnieval.replies.arguments import Conventions
from taskloom.omnieval.replies.formats import BOX, POINT, PYAUTOGUI, QWEN_ACTIONS, ReplyFormat, ui_tars
from taskloom.omnieval.replies.grids import Sizing


@dataclass(frozen=True, slots=True)
class ModelAgent:
    """What a module of an agent offers, as a row."""

    description: str
    """What it is; after an empty line where its format comes from, and its settings."""
    create: Callable[[AgentBrief], Agent]
    FORMAT: ReplyFormat | None = None
    """The format that it is asked in; None for typed replies and tools."""
    check: Callable[[Mapping[str, JsonValue]], None] | None = None
    """Checks its settings; None where none can be wrong."""
    MODEL: bool = True


def spoken(description: str, form: ReplyFormat) -> ModelAgent:
    """The agent of models that answer in the format `form`."""
    return ModelAgent(description, lambda brief: SpokenAgent(brief, form), form)


def typed(description: str, shows: Shows) -> ModelAgent:
    """The agent of chat models that are shown the screen in the way `shows`."""
    return ModelAgent(description, lambda brief: TypedAgent(brief, shows))


def _same(arguments: str, names: Sequence[str]) -> Iterator[str]:
    return (f"{name}{arguments}" for name in names)


_SIZED_32 = Sizing(factor=32, least_pixels=4 * 32 * 32, most_pixels=16384 * 32 * 32)
_CODE = "## Thought\nwhy\n## Action\nwhat, in one sentence\n## Code\n```python\npyautogui.click(x, y)\n```"
ROWS: dict[str, ModelAgent] = {
    "anthropic_computer": ModelAgent(
        "Anthropic's `computer_toolset_20260801` by the Messages protocol, one conversation per "
        "attempt.\n\nSource: the types of the package `anthropic`. `computer_tool: computer_20251124` or "
        "`computer_20250124` in the model's settings are the older tools.",
        tool_agent,
        check=check_tool_settings,
    ),
    "control_tree": typed(
        "A chat model by the list of controls alone, without a picture (the paper's A11Y).\n\nSource: the "
        "paper, section 4.2.",
        "list",
    ),
    "gemini": spoken(
        "Gemini by its OpenAI-compatible address: the functions of its computer use, declared and "
        "called, 0 to 1000.\n\nSource: Google's documentation of computer use. `magnitude` is in "
        "thousandths, 100 to a notch.",
        ReplyFormat(
            syntaxes=("json",),
            grid="thousand",
            shape='Call one function, such as {"name": "click_at", "args": {"x": 0, "y": 0}}',
            functions=(
                "click_at(x: int, y: int)",
                "hover_at(x: int, y: int)",
                "type_text_at(x: int, y: int, text: str, press_enter?: bool, clear_before_typing?: bool)",
                "key_combination(keys: keys)",
                "scroll_document(direction: str)",
                "scroll_at(x: int, y: int, direction: str, magnitude?: int)",
                "drag_and_drop(x: int, y: int, destination_x: int, destination_y: int)",
                "go_back()",
                "go_forward()",
                "wait_5_seconds()",
                "finished(text?: str)",
                "give_up(reason: str)",
            ),
            conventions=Conventions(notch=100),
            declared=True,
        ),
    ),
    "glm_4_5v": spoken(
        "GLM-4.5V and 4.6V: `left_click(start_box='[x,y]')` between box marks, 0 to 999.\n\nSource: "
        "zai-org/GLM-V, its page on agents.",
        ReplyFormat(
            syntaxes=("code",),
            grid="thousand_less_one",
            shape=(
                "Action: <|begin_of_box|>left_click(start_box='[x,y]', "
                "element_info='what it is')<|end_of_box|>"
            ),
            functions=(
                *_same(
                    "(start_box='[x,y]', element_info='')",
                    ("left_click", "right_click", "middle_click", "left_double_click", "hover"),
                ),
                "left_drag(start_box='[x,y]', end_box='[x,y]', element_info='')",
                "key(keys='ctrl+c')",
                "type(content='')",
                "scroll(start_box='[x,y]', direction='down', step=5)",
                "WAIT()",
                "DONE()",
                "FAIL()",
            ),
        ),
    ),
    "holo": spoken(
        "Holo 3.1: one JSON object with a thought and a call, 0 to 1000.\n\nSource: the agents of "
        "OpenComputer and cua-agent for Holo.",
        ReplyFormat(
            syntaxes=("json",),
            grid="thousand",
            shape=(
                '{"note": "…", "thought": "…", "tool_call": {"tool_name": "click_desktop", "x": 0, "y": 0}}'
            ),
            functions=(
                *_same("_desktop(x, y)", ("click", "double_click", "triple_click", "right_click", "hover")),
                "write_at_desktop(x, y, content)",
                "drag_and_drop_desktop(x1, y1, x2, y2)",
                "hotkey_desktop(keys), such as ctrl+c",
                "scroll_desktop(x, y, direction, amount)",
                "wait_desktop(seconds)",
                "answer(content), which ends the task",
            ),
        ),
    ),
    "kimi": spoken(
        "Kimi K2.5 and K2.6, and OpenCUA models that point in fractions: PyAutoGUI code, 0 to "
        "1.\n\nSource: the agents of OSWorld for Kimi and OpenCUA; the last three pictures are shown.",
        ReplyFormat(("code",), "fractions", _CODE, PYAUTOGUI),
    ),
    "marks_and_list": typed(
        "A chat model that is shown numbered boxes and the list of controls: the actor of the "
        "method.\n\nSource: the paper (App. E.1). `pictures` in its settings shows earlier screens as "
        "well.",
        "marks_and_list",
    ),
    "openai_computer": ModelAgent(
        "OpenAI's `computer` tool by the Responses protocol, one conversation per attempt.\n\nSource: the "
        "types of the package `openai`. `computer_tool: computer_use_preview` in the model's settings is "
        "the older tool; `safety_checks: acknowledge` in the agent's goes on where the provider has "
        "doubts.",
        tool_agent,
        check=check_tool_settings,
    ),
    "opencua": spoken(
        "OpenCUA 7B to 72B, and EvoCUA S1: PyAutoGUI code in pixels of a picture whose sides are "
        "multiples of 28.\n\nSource: xlang-ai/OpenCUA; the last three pictures are shown.",
        ReplyFormat(
            syntaxes=("code",),
            grid="pixels",
            shape=_CODE,
            functions=PYAUTOGUI,
            sizing=Sizing(factor=28, least_pixels=3136, most_pixels=12845056),
            pictures=3,
        ),
    ),
    "qwen3_5": spoken(
        "Qwen3.5 and Qwen-CUA: `computer_use` as XML or JSON, several calls for a batch, 0 to "
        "999.\n\nSource: xlang-ai/Qwen-CUA, `protocol.py`. Pictures have sides that are multiples of 32.",
        ReplyFormat(
            syntaxes=("xml", "json"),
            grid="thousand_less_one",
            shape=(
                "One or more calls after a sentence of why:\n"
                "<tool_call><function=computer_use><parameter=action>left_click</parameter>"
                "<parameter=coordinate>[x, y]</parameter></function></tool_call>"
            ),
            functions=(
                *QWEN_ACTIONS,
                "key_down(keys: list) and key_up(keys: list)",
                "left_mouse_down() and left_mouse_up()",
                "call_user(text: str)",
            ),
            sizing=_SIZED_32,
            pictures=4,
        ),
    ),
    "qwen3_vl": spoken(
        "Qwen3-VL, and models that answer as it does (GUI-Owl 1.5, EvoCUA S2): `computer_use` as JSON, 0 "
        "to 1000.\n\nSource: QwenLM/Qwen3-VL, `computer_use` cookbook. Pictures have sides that are "
        "multiples of 32.",
        ReplyFormat(
            syntaxes=("json", "xml"),
            grid="thousand",
            shape=(
                "Action: what is done next, in one sentence\n"
                '<tool_call>{"name": "computer_use", "arguments": '
                '{"action": "left_click", "coordinate": [x, y]}}</tool_call>'
            ),
            functions=QWEN_ACTIONS,
            sizing=_SIZED_32,
            pictures=4,
        ),
    ),
    "set_of_marks": typed(
        "A chat model by set-of-marks: the screen with a numbered box around every control, and no list "
        "of them.\n\nSource: the paper (App. E.1), and Yang et al. 2023, Set-of-Mark prompting. "
        "`pictures` in its settings shows earlier screens as well.",
        "marks",
    ),
    "ui_tars_1": spoken(
        "UI-TARS 1.0: places in `<|box_start|>(x,y)<|box_end|>`, 0 to 1000.\n\nSource: bytedance/UI-TARS, "
        "`prompt.py`; the last five pictures are shown.",
        ui_tars(BOX),
    ),
    "ui_tars_1_5": spoken(
        "UI-TARS 1.5: boxes in pixels of a picture whose sides are multiples of 28.\n\nSource: "
        "bytedance/UI-TARS, `prompt.py` and its action parser; the last five pictures are shown.",
        ui_tars(BOX, "pixels", Sizing(factor=28, least_pixels=100 * 28 * 28, most_pixels=16384 * 28 * 28)),
    ),
    "ui_tars_2": spoken(
        "UI-TARS 2 (Seed): calls as `<function=…>` inside of `<seed:tool_call>`, 0 to 1000.\n\nSource: "
        "the loop of cua-agent. `press` holds a key until `release`.",
        ReplyFormat(
            syntaxes=("xml", "code"),
            grid="thousand",
            shape=(
                "<think>why, in a sentence or two</think>\n"
                "<seed:tool_call><function=click><parameter=point><point>x y</point></parameter></function>"
                "</seed:tool_call>"
            ),
            functions=(
                "click(point)",
                "left_double(point)",
                "right_single(point)",
                "drag(start_point, end_point)",
                "scroll(point, direction)",
                "move_to(point)",
                "mouse_down(point)",
                "mouse_up(point)",
                "type(content)",
                "hotkey(key), such as ctrl c",
                "press(key) and release(key)",
                "wait(time)",
                "take_screenshot()",
                "call_user(content)",
                "finished(content)",
            ),
            conventions=Conventions(press_holds=True),
            pictures=5,
        ),
    ),
    "ui_tars_doubao": spoken(
        "UI-TARS 1.5 as Doubao hosts it: places in `<point>x y</point>`, 0 to 1000.\n\nSource: "
        "bytedance/UI-TARS, `prompt.py`; the last five pictures are shown.",
        ui_tars(POINT),
    ),
    "yutori_n1": spoken(
        "Yutori n1: calls of functions, 0 to 1000 over a picture of 1280 by 800.\n\nSource: cua-agent, "
        "its loop for Yutori.",
        ReplyFormat(
            syntaxes=("json",),
            grid="thousand",
            shape='Call one function, such as {"name": "left_click", "arguments": {"coordinates": [0, 0]}}',
            functions=(
                *_same(
                    "(coordinates: place)",
                    ("left_click", "double_click", "triple_click", "right_click", "hover"),
                ),
                "drag(start_coordinates: place, coordinates: place)",
                "scroll(coordinates: place, direction: str, amount?: int)",
                "type(text: str, press_enter?: bool, clear_before_typing?: bool)",
                "key_press(key_comb: keys)",
                "wait()",
                "go_back()",
                "stop(answer: str)",
            ),
            sizing=Sizing(fixed=(1280, 800)),
            declared=True,
        ),
    ),
}
"""All of them."""
