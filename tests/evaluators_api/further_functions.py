"""More evaluation functions as models write them; see `realistic_functions`."""

from __future__ import annotations

from tests.evaluators_api.function_cases import Case, entry

FURTHER_CASES = (
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
        "class Evaluator:\n    def __init__(self, path):\n        self.path = path\n    def run(self):\n     "
        "   return check_file_exists(self.path)\n" + entry("return Evaluator(csv_path).run()"),
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
            "return check_text_exists_via_control(text) and check_text_exists_via_control('Imported %d tasks'"
            " % 3)",
        ),
        True,
    ),
    Case(
        "keyword arguments in another order",
        entry(
            "return check_control_value(value='Quarterly plan', text='Title') and"
            " check_control_checked('Notify me')"
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
        "def evaluate_agent_task_completion(**parameters):\n    return"
        " check_file_exists(parameters['csv_path'])\n",
        True,
    ),
    Case(
        "parameters as one dictionary",
        "def evaluate_agent_task_completion(parameters):\n    return"
        " check_file_exists(parameters['csv_path'])\n",
        "csv_path, note",
    ),
    Case(
        "wrong name of the entry point",
        "def evaluate(csv_path, note):\n    return check_file_exists(csv_path)\n",
        "evaluate_agent_task_completion",
    ),
    Case(
        "async",
        "async def evaluate_agent_task_completion(csv_path, note):\n    return await"
        " check_file_exists(csv_path)\n",
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
        "def evaluate_agent_task_completion(c,\n    sv_path: str):\n    if not\n       "
        " check_mouse_clicks(text='x'):\n            return False\n",
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
