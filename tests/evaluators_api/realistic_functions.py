"""Evaluation functions as models write them, with their habits. Every one must be right, or refused with words to repair from.

Each runs on the same finished state (see `FINISHED`) with `csv_path` and `note`; `expected` is what a person who reads the
code would say it answers, or `refused` with a word that the message must hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from resources.applications import ControlQuery
from taskgraph.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskgraph.interaction import Control, Rectangle

PLACE = Rectangle(left=0, top=0, right=10, bottom=10)
FINISHED = Evidence(
    step=4,
    inputs=(
        InputEvent(step=1, kind="click", control=ControlQuery(text="More actions", control_type="Button")),
        InputEvent(step=2, kind="click", control=ControlQuery(text="Import\u2026", control_type="MenuItem")),
        InputEvent(step=3, kind="text", text="Documents/plan.csv"),
        InputEvent(step=3, kind="key", text="enter"),
        InputEvent(step=4, kind="click", control=ControlQuery(text="&Open", control_type="Button")),
    ),
    controls=(
        Control(label="1", text="Imported 3 tasks", control_type="Text", rectangle=PLACE),
        Control(label="2", text="Title", control_type="Edit", value="Quarterly plan", rectangle=PLACE),
        Control(label="3", text="Notify me", control_type="CheckBox", checked=True, rectangle=PLACE),
    ),
    clipboard=ClipboardState(text="Total: 1,250"),
    files=(
        FileState(path="Documents/plan.csv", size=9, sha256="0" * 64, text="task,owner\nWrite report,Ann\n"),
        FileState(
            path="Documents/notes/Kick-off.md", size=9, sha256="1" * 64, text="# Kick-off\nMeet at 10:30.\n"
        ),
    ),
    directories=("Documents", "Documents/notes"),
    active_application="tasks",
    window_title="plan.csv - Tasks",
    url="http://localhost/board#imported",
)
PARAMETERS = {"csv_path": "Documents/plan.csv", "note": "Kick-off"}


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    source: str
    expected: bool | str
    progress: float | None = None


def entry(*lines: str, before: str = "", signature: str = "csv_path: str, note: str") -> str:
    head = f"def evaluate_agent_task_completion({signature}):\n"
    return before + head + "".join(f"    {line}\n" for line in lines)


NAMEDTUPLE = "from collections import namedtuple\nEvalResult = namedtuple('EvalResult', ['success', 'message', 'progress'])\n"

CASES = (
    Case(
        "the paper's example",
        NAMEDTUPLE
        + """
def evaluate_agent_task_completion(csv_path: str, note: str) -> EvalResult:
    if not check_mouse_clicks(text='More actions'):
        return EvalResult(False, "Subtask execution failed because agent did not click the 'More actions' button.", 0/4)
    if not check_mouse_clicks(text='Import'):
        return EvalResult(False, "Subtask execution failed because the import tasks option was not accessed.", 1/4)
    if not check_keyboard_types(text=csv_path):
        return EvalResult(False, f"Subtask execution failed because the CSV file path '{csv_path}' was not typed.", 2/4)
    if not check_mouse_clicks(text='Open'):
        return EvalResult(False, "Subtask execution failed because the 'Open' button was not clicked.", 3/4)
    return EvalResult(True, "Subtask completed successfully", 4/4)
""",
        True,
        1.0,
    ),
    Case(
        "two fields",
        "from collections import namedtuple\nEvalResult = namedtuple('EvalResult', ['success', 'message'])\n"
        + entry(
            "if not check_file_exists(csv_path):",
            "    return EvalResult(False, 'no file')",
            "return EvalResult(True, 'ok')",
        ),
        True,
        1.0,
    ),
    Case(
        "bare bool",
        entry("if not check_file_exists(file_path=csv_path):", "    return False", "return True"),
        True,
    ),
    Case("bare bool that is wrong", entry("return check_file_exists('Documents/other.csv')"), False),
    Case("EvalResult never defined", entry("return EvalResult(check_file_exists(csv_path), 'x', 1.0)"), True),
    Case(
        "typed NamedTuple",
        "from typing import NamedTuple\n\nclass EvalResult(NamedTuple):\n    '''The result.'''\n    success: bool\n    message: str = ''\n    progress: float = 0.0\n"
        + entry("return EvalResult(check_file_exists(csv_path), 'm', 1.0)"),
        True,
        1.0,
    ),
    Case(
        "typing.NamedTuple call",
        "import typing\nEvalResult = typing.NamedTuple('EvalResult', [('success', bool), ('message', str), ('progress', float)])\n"
        + entry("return EvalResult(success=check_file_exists(csv_path), message='m', progress=1.0)"),
        True,
    ),
    Case(
        "dataclass",
        "from dataclasses import dataclass\n\n@dataclass\nclass EvalResult:\n    success: bool\n    message: str\n    progress: float = 0.0\n"
        + entry("return EvalResult(check_file_exists(csv_path), 'm', 0.5)"),
        True,
        0.5,
    ),
    Case(
        "dict", entry("return {'success': check_file_exists(csv_path), 'message': 'm', 'progress': 1}"), True
    ),
    Case(
        "fenced with prose",
        "Sure! Here is the function:\n\n```python\n"
        + entry("return check_file_exists(csv_path)")
        + "```\n\nIt checks the file.",
        True,
    ),
    Case(
        "two fences, the second one counts",
        "```bash\npip install x\n```\n```python\n" + entry("return check_file_exists(csv_path)") + "```",
        True,
    ),
    Case("tilde fence", "~~~python\n" + entry("return check_file_exists(csv_path)") + "~~~\n", True),
    Case(
        "progress counter",
        entry(
            "checks = [check_file_exists(csv_path), check_directory_exists('Documents'), check_file_exists('nope')]",
            "passed = sum(1 for c in checks if c)",
            "return EvalResult(all(checks), f'{passed} of {len(checks)}', passed / len(checks))",
        ),
        False,
        0.666667,
    ),
    Case(
        "list of pairs",
        entry(
            "conditions = [",
            "    (check_file_exists(csv_path), 'file'),",
            "    (check_window(text='plan.csv'), 'window'),",
            "]",
            "for number, (holds, what) in enumerate(conditions):",
            "    if not holds:",
            "        return EvalResult(False, f'{what} is missing', number / len(conditions))",
            "return EvalResult(True, 'done', 1.0)",
        ),
        True,
    ),
    Case(
        "checks as values",
        entry(
            "steps = [(check_mouse_clicks, 'More actions'), (check_keyboard_types, csv_path)]",
            "return all(check(text) for check, text in steps)",
        ),
        True,
    ),
    Case(
        "lambdas with weights",
        entry(
            "weighted = [(lambda: check_file_exists(csv_path), 0.7), (lambda: check_window('Tasks'), 0.3)]",
            "score = sum(weight for test, weight in weighted if test())",
            "return EvalResult(score > 0.99, '', min(1.0, round(score, 3)))",
        ),
        True,
    ),
    Case(
        "any over alternatives",
        entry(
            "return any(check_text_exists_via_control(text=t) for t in ('Imported 3 tasks', 'Import complete'))"
        ),
        True,
    ),
    Case(
        "try around a check",
        entry(
            "try:",
            "    ok = check_file_contains(csv_path, 'Write report')",
            "except Exception as e:",
            "    return EvalResult(False, str(e), 0)",
            "return EvalResult(ok, '', float(ok))",
        ),
        True,
    ),
    Case(
        "import os, basename of a POSIX path",
        entry("name = os.path.basename(csv_path)", "return check_window(text=name)", before="import os\n"),
        True,
    ),
    Case(
        "basename of a Windows path",
        entry(
            "name = os.path.basename('C:\\\\Users\\\\user\\\\Documents\\\\plan.csv')",
            "return check_window(text=name)",
            before="import os\n",
        ),
        True,
    ),
    Case(
        "from os.path import",
        entry(
            "folder = dirname(csv_path)",
            "return check_directory_exists(folder)",
            before="from os.path import dirname, splitext\n",
        ),
        True,
    ),
    Case(
        "join and splitext",
        entry(
            "stem, suffix = os.path.splitext(csv_path)",
            "return check_file_exists(os.path.join('Documents', os.path.basename(stem) + suffix))",
            before="import os.path\n",
        ),
        True,
    ),
    Case("os.path.exists as a check", entry("return os.path.exists(csv_path)", before="import os\n"), True),
    Case(
        "os.path.isfile of a folder",
        entry("return os.path.isfile('Documents') or check_file_exists('zzz')", before="import os\n"),
        False,
    ),
    Case(
        "expanduser habit",
        entry("return check_file_exists(os.path.expanduser('~/Documents/plan.csv'))", before="import os\n"),
        "os.path",
    ),
    Case(
        "home in a path",
        entry("return check_file_exists('/home/user/' + csv_path) and check_file_exists(f'~/{csv_path}')"),
        True,
    ),
    Case(
        "Windows path in capitals",
        entry("return check_file_exists('C:/Users/User/DOCUMENTS/Plan.CSV')"),
        True,
    ),
    Case(
        "Path(...).name",
        entry("return check_window(text=Path(csv_path).name)", before="from pathlib import Path\n"),
        True,
    ),
    Case(
        "PureWindowsPath(...).stem",
        entry(
            "return PureWindowsPath('C:\\\\a\\\\plan.csv').stem == 'plan' and check_file_exists(csv_path)",
            before="from pathlib import PureWindowsPath\n",
        ),
        True,
    ),
    Case(
        "Path(...).exists()",
        entry(
            "return Path(csv_path).exists() and Path(csv_path).is_file()", before="from pathlib import Path\n"
        ),
        True,
    ),
    Case(
        "Path arithmetic",
        entry(
            "path = Path('Documents') / 'plan.csv'",
            "return check_file_exists(str(path))",
            before="from pathlib import Path\n",
        ),
        "pathlib",
    ),
    Case(
        "regular expression on the clipboard",
        entry(
            "match = re.search(r'Total: ([\\d,]+)', get_clipboard_text())",
            "if not match:",
            "    return EvalResult(False, 'no total', 0.0)",
            "return EvalResult(int(match.group(1).replace(',', '')) == 1250, '', 1.0)",
            before="import re\n",
        ),
        True,
    ),
    Case(
        "clipboard text compared",
        entry("return get_clipboard_text().strip().lower() == 'total: 1,250'"),
        True,
    ),
    Case(
        "json",
        entry(
            'wanted = json.loads(\'{"texts": ["Write report", "Ann"]}\')',
            "return all(check_file_contains(csv_path, t) for t in wanted['texts'])",
            before="import json\n",
        ),
        True,
    ),
    Case(
        "datetime",
        entry(
            "day = datetime.strptime('2025-01-02', '%Y-%m-%d')",
            "return check_file_exists(csv_path) and day.year == 2025",
            before="from datetime import datetime\n",
        ),
        True,
    ),
    Case(
        "logging",
        entry(
            "logger.info('checking %s', csv_path)",
            "logging.debug('x')",
            "return check_file_exists(csv_path)",
            before="import logging\nlogger = logging.getLogger(__name__)\nlogging.basicConfig(level=logging.INFO)\n",
        ),
        True,
    ),
    Case("print", entry("print('checking', csv_path)", "return check_file_exists(csv_path)"), True),
    Case(
        "imports the checks",
        entry(
            "return check_file_exists(csv_path)",
            before="from apis import check_file_exists, check_mouse_clicks\n",
        ),
        True,
    ),
    Case(
        "imports everything",
        entry("return check_file_exists(csv_path)", before="from system_apis import *\n"),
        "import",
    ),
    Case(
        "main block",
        entry("return check_file_exists(csv_path)")
        + "\nif __name__ == '__main__':\n    print(evaluate_agent_task_completion('a', 'b'))\n",
        True,
    ),
    Case(
        "demonstration call",
        entry("return check_file_exists(csv_path)") + "\nprint(evaluate_agent_task_completion('a', 'b'))\n",
        True,
    ),
    Case(
        "future import and annotations",
        "from __future__ import annotations\nfrom typing import Optional, List\n"
        + entry(
            "missing: List[str] = []",
            "note_text: Optional[str] = None",
            "return check_file_exists(csv_path) and not missing and note_text is None",
        ),
        True,
    ),
    Case(
        "nested function and nonlocal",
        entry(
            "count = 0",
            "def step(ok):",
            "    nonlocal count",
            "    count += 1 if ok else 0",
            "    return ok",
            "done = step(check_file_exists(csv_path)) and step(check_window('Tasks'))",
            "return EvalResult(done, '', count / 2)",
        ),
        True,
        1.0,
    ),
    Case(
        "match statement",
        entry(
            "match check_file_exists(csv_path), check_window('Tasks'):",
            "    case (True, True):",
            "        return True",
            "    case _:",
            "        return False",
        ),
        True,
    ),
    Case(
        "walrus",
        entry(
            "if (text := get_clipboard_text()) and text.startswith('Total'):",
            "    return EvalResult(True, text, 1.0)",
            "return EvalResult(False, '', 0.0)",
        ),
        True,
    ),
    Case(
        "class with methods",
        "class Evaluator:\n    def __init__(self, path):\n        self.path = path\n    def run(self):\n        return check_file_exists(self.path)\n"
        + entry("return Evaluator(csv_path).run()"),
        True,
    ),
    Case(
        "class(object)",
        "class Names(object):\n    SAVE = 'Open'\n" + entry("return check_mouse_clicks(Names.SAVE)"),
        True,
    ),
    Case(
        "format and percent",
        entry(
            "text = '{} {} tasks'.format('Imported', 3)",
            "return check_text_exists_via_control(text) and check_text_exists_via_control('Imported %d tasks' % 3)",
        ),
        True,
    ),
    Case(
        "keyword arguments in another order",
        entry(
            "return check_control_value(value='Quarterly plan', text='Title') and check_control_checked('Notify me')"
        ),
        True,
    ),
    Case(
        "rename: old gone, new there",
        entry(
            "if check_file_exists('Documents/draft.csv'):",
            "    return EvalResult(False, 'old name is still there', 0.0)",
            "return EvalResult(check_file_exists(csv_path), '', 1.0)",
        ),
        True,
    ),
    Case(
        "parameter unused",
        "def evaluate_agent_task_completion(csv_path):\n    return check_file_exists(csv_path)\n",
        True,
    ),
    Case(
        "keyword-arguments dictionary",
        "def evaluate_agent_task_completion(**parameters):\n    return check_file_exists(parameters['csv_path'])\n",
        True,
    ),
    Case(
        "parameters as one dictionary",
        "def evaluate_agent_task_completion(parameters):\n    return check_file_exists(parameters['csv_path'])\n",
        "csv_path, note",
    ),
    Case(
        "wrong name of the entry point",
        "def evaluate(csv_path, note):\n    return check_file_exists(csv_path)\n",
        "evaluate_agent_task_completion",
    ),
    Case(
        "async",
        "async def evaluate_agent_task_completion(csv_path, note):\n    return await check_file_exists(csv_path)\n",
        "def",
    ),
    Case(
        "custom exception",
        "class StepFailed(Exception):\n    pass\n"
        + entry("if not check_file_exists(csv_path):", "    raise StepFailed('x')", "return True"),
        "StepFailed",
    ),
    Case(
        "Enum",
        "from enum import Enum\nclass State(Enum):\n    DONE = 1\n"
        + entry("return check_file_exists(csv_path)"),
        "enum",
    ),
    Case(
        "generator",
        entry("def results():", "    yield check_file_exists(csv_path)", "return all(results())"),
        "yield",
    ),
    Case(
        "property",
        "class A:\n    @property\n    def ok(self):\n        return check_window('Tasks')\n"
        + entry("return A().ok"),
        "property",
    ),
    Case("invented check", entry("return check_button_clicked('Open')"), "check_button_clicked"),
    Case("invented argument", entry("return check_mouse_clicks(text='Open', timeout=5)"), "timeout"),
    Case("forgotten argument", entry("return check_file_contains(csv_path)"), "text"),
    Case(
        "reads the file itself",
        entry("with open(csv_path) as f:", "    return 'Ann' in f.read() and check_file_exists(csv_path)"),
        "open",
    ),
    Case(
        "subprocess habit",
        entry(
            "return subprocess.run(['ls']).returncode == 0 and check_file_exists(csv_path)",
            before="import subprocess\n",
        ),
        "subprocess",
    ),
    Case(
        "division by the number of nothing",
        entry(
            "steps = [t for t in ('a', 'b') if check_file_exists(t)]",
            "return EvalResult(True, '', len(steps) / len(steps))",
        ),
        "ZeroDivisionError",
    ),
    Case("typing mistake", entry("return chek_file_exists(csv_path)"), "chek_file_exists"),
    Case(
        "broken by line wrapping",
        "def evaluate_agent_task_completion(c,\n    sv_path: str):\n    if not\n        check_mouse_clicks(text='x'):\n            return False\n",
        "line 3",
    ),
    Case(
        "case and white space", entry("return check_text_exists_via_control('  IMPORTED   3 tasks ')"), True
    ),
    Case(
        "near word is another word",
        entry("return check_mouse_clicks('Opens') or check_text_exists_via_control('Imported 4 tasks')"),
        False,
    ),
    Case("address", entry("return check_window('#imported') and not check_window('/boar')"), True),
)
