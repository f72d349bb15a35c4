"""Evaluation functions as models write them, with their habits. Every one must be right, or refused with
words to repair from.

Each runs on the same finished state (see `FINISHED`) with `csv_path` and `note`; `expected` is what a person
who reads the code would say it answers, or `refused` with a word that the message must hold.
"""

from __future__ import annotations

from tests.evaluators_api.function_cases import FINISHED, NAMEDTUPLE, PARAMETERS, Case, entry
from tests.evaluators_api.further_functions import FURTHER_CASES

__all__ = ["CASES", "FINISHED", "PARAMETERS", "Case"]

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
""",  # noqa: E501
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
        "from typing import NamedTuple\n\nclass EvalResult(NamedTuple):\n    '''The result.'''\n    success:"
        " bool\n    message: str = ''\n    progress: float = 0.0\n"
        + entry("return EvalResult(check_file_exists(csv_path), 'm', 1.0)"),
        True,
        1.0,
    ),
    Case(
        "typing.NamedTuple call",
        "import typing\nEvalResult = typing.NamedTuple('EvalResult', [('success', bool), ('message', str),"
        " ('progress', float)])\n"
        + entry("return EvalResult(success=check_file_exists(csv_path), message='m', progress=1.0)"),
        True,
    ),
    Case(
        "dataclass",
        "from dataclasses import dataclass\n\n@dataclass\nclass EvalResult:\n    success: bool\n    message:"
        " str\n    progress: float = 0.0\n"
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
            "checks = [check_file_exists(csv_path), check_directory_exists('Documents'),"
            " check_file_exists('nope')]",
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
            "return any(check_text_exists_via_control(text=t) for t in ('Imported 3 tasks', 'Import"
            " complete'))"
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
            before=(
                "import logging\nlogger ="
                " logging.getLogger(__name__)\nlogging.basicConfig(level=logging.INFO)\n"
            ),
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
    *FURTHER_CASES,
)
