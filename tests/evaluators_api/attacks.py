"""Hostile evaluation functions by family. Each tries to escape, to hang, to exhaust, or to claim success it
has not earned."""

from __future__ import annotations

HEAD = "def evaluate_agent_task_completion(csv_path: str):\n"
HONEST = "check_file_exists('there-is-no-such-file.txt')"


def body(*lines: str, before: str = "") -> str:
    return before + HEAD + "".join(f"    {line}\n" for line in lines)


def claim(expression: str, before: str = "") -> str:
    """Reaches for something in `expression`, then claims success."""
    return body(
        f"{HONEST}", f"loot = {expression}", "return EvalResult(True, str(loot)[:100], 1.0)", before=before
    )


def effort(*lines: str, before: str = "") -> str:
    """Does something costly, then claims success."""
    return body(HONEST, *lines, "return EvalResult(True, 'still here', 1.0)", before=before)


FILE, PORT = "@CANARY@", "@PORT@"

ATTACKS: dict[str, dict[str, str]] = {
    "process": {
        "os.system": claim(f"os.system('rm -f {FILE}')", "import os\n"),
        "os.popen": claim(f"os.popen('cat {FILE}').read()", "import os\n"),
        "subprocess.run": claim(f"subprocess.run(['rm', '{FILE}'])", "import subprocess\n"),
        "os.fork": claim("os.fork()", "import os\n"),
        "os.kill": claim("os.kill(os.getppid(), 9)", "import os\n"),
        "os._exit": claim("os._exit(0)", "import os\n"),
        "sys.exit": claim("sys.exit(0)", "import sys\n"),
        "raise SystemExit": effort("raise SystemExit(0)"),
        "raise KeyboardInterrupt": effort("raise KeyboardInterrupt()"),
        "ctypes": claim("ctypes.CDLL(None).system(b'true')", "import ctypes\n"),
        "multiprocessing": claim("multiprocessing.Process(target=print).start()", "import multiprocessing\n"),
        "signal": claim("signal.raise_signal(9)", "import signal\n"),
    },
    "file": {
        "open": claim(f"open('{FILE}').read()"),
        "open to write": claim(f"open('{FILE}', 'w').write('gone')"),
        "pathlib read": claim(f"Path('{FILE}').read_text()", "from pathlib import Path\n"),
        "pathlib unlink": claim(f"Path('{FILE}').unlink()", "from pathlib import Path\n"),
        "os.listdir": claim("os.listdir('/')", "import os\n"),
        "os.remove": claim(f"os.remove('{FILE}')", "import os\n"),
        "os.open": claim(f"os.read(os.open('{FILE}', 0), 99)", "import os\n"),
        "shutil": claim(f"shutil.rmtree('{FILE}')", "import shutil\n"),
        "io.open": claim(f"io.open('{FILE}').read()", "import io\n"),
        "glob": claim("glob.glob('/*')", "import glob\n"),
        "environment": claim("os.environ", "import os\n"),
        "path of a check": body("return EvalResult(check_file_exists('/etc/passwd'), 'host file', 1.0)"),
        "traversal in a check": body(
            "return EvalResult(check_file_exists('../../../../etc/passwd'), '', 1.0)"
        ),
        "contents through a check": body(
            "return EvalResult(check_file_contains('/proc/self/environ', 'PATH'), '', 1.0)"
        ),
    },
    "network": {
        "socket": claim(f"socket.create_connection(('127.0.0.1', {PORT}))", "import socket\n"),
        "urllib": claim(f"urllib.request.urlopen('http://127.0.0.1:{PORT}')", "import urllib.request\n"),
        "http.client": claim(
            f"http.client.HTTPConnection('127.0.0.1', {PORT}).request('GET', '/')", "import http.client\n"
        ),
        "asyncio": claim(f"asyncio.run(asyncio.open_connection('127.0.0.1', {PORT}))", "import asyncio\n"),
        "requests": claim(f"requests.get('http://127.0.0.1:{PORT}')", "import requests\n"),
    },
    "attribute walk": {
        "subclasses": claim("().__class__.__base__.__subclasses__()"),
        "globals of a check": claim("check_file_exists.__globals__"),
        "self of a check": claim("check_file_exists.__self__"),
        "getattr": claim("getattr((), '__cl' + 'ass__')"),
        "format walk": claim("'{0.__class__.__mro__}'.format(csv_path)"),
        "format_map walk": claim("'{a.__class__}'.format_map({'a': csv_path})"),
        "builtins": claim("__builtins__"),
        "import function": claim("__import__('os').system('true')"),
        "globals()": claim("globals()['__builtins__']"),
        "vars of a namedtuple": claim("vars(EvalResult)"),
        "code object": claim("evaluate_agent_task_completion.__code__"),
        "frame of an error": body(
            "try:",
            "    1 / 0",
            "except Exception as error:",
            "    frame = error.__traceback__.tb_frame",
            f"{HONEST}",
            "return EvalResult(True, str(frame), 1.0)",
        ),
        "generator frame": claim("(x for x in [1]).gi_frame"),
        "type()": claim("type('X', (object,), {})()"),
        "parameters of the subtask": effort("parameters_of_the_subtask['x'] = 1"),
    },
    "code from text": {
        "eval": claim("eval('1 + 1')"),
        "exec": effort("exec('x = 1')"),
        "compile": claim("compile('1', '', 'eval')"),
        "importlib": claim("importlib.import_module('os')", "import importlib\n"),
        "pickle": claim("pickle.loads(b'')", "import pickle\n"),
        "eval through a name": claim("evaluator('1')", "evaluator = eval\n"),
    },
    "loops": {
        "while True": effort("while True:", "    pass"),
        "nested for": effort("for a in range(10**9):", "    for b in range(10**9):", "        pass"),
        "itertools.count": effort("for n in itertools.count():", "    pass", before="import itertools\n"),
        "caught time-out": effort(
            "while True:",
            "    try:",
            "        while True:",
            "            pass",
            "    except BaseException:",
            "        pass",
        ),
        "sum of a range": effort("total = sum(range(10**12))"),
        "power of a big number": effort(
            "number = 3 ** 300000", "while True:", "    other = number * number * number"
        ),
        "module level": "while True:\n    pass\n" + body(f"return {HONEST}"),
        "module level assignment": "x = [n for n in range(10**10)]\n" + body(f"return {HONEST}"),
        "default argument": (
            "def evaluate_agent_task_completion(csv_path, x=sum(range(10**12))):\n    return " + HONEST + "\n"
        ),
        "sort key": effort("sorted(range(10**7), key=lambda n: [n] * 100)"),
        "asks forever": body("while not check_file_exists('a'):", "    pass", "return True"),
        "sleep": effort("time.sleep(10**6)", before="import time\n"),
        "string formatting": effort("for n in range(10**8):", "    '%0999d' % n"),
    },
    "memory": {
        "list doubling": effort("x = [0]", "while True:", "    x = x + x"),
        "string doubling": effort("x = 'a'", "while True:", "    x += x"),
        "string times": effort("x = 'a' * (10 ** 10)"),
        "list times": effort("x = [0] * (10 ** 10)"),
        "bytes": effort("x = bytes(10 ** 10)"),
        "dict": effort("x = {n: str(n) * 100 for n in range(10 ** 8)}"),
        "big power": effort("x = 10 ** (10 ** 9)"),
        "shift": effort("x = 1 << (10 ** 10)"),
        "format width": effort("x = f'{1:>{10 ** 10}}'"),
        "percent width": effort("x = '%999999999999d' % 1"),
        "join": effort("x = ','.join(['a' * 10 ** 6] * 10 ** 4)"),
        "replace": effort("x = ('a' * 10 ** 6).replace('a', 'b' * 10 ** 4)"),
        "json": effort("x = json.dumps([[['a' * 100] * 1000] * 1000] * 1000)", before="import json\n"),
        "permutations": effort("x = list(itertools.permutations(range(12)))", before="import itertools\n"),
        "caught memory error": effort(
            "x = [0]",
            "while True:",
            "    try:",
            "        x = x + x",
            "    except BaseException:",
            "        pass",
        ),
    },
    "recursion": {
        "function": body(f"{HONEST}", "def again(n):", "    return again(n + 1)", "return again(0)"),
        "entry point": body(f"{HONEST}", "return evaluate_agent_task_completion(csv_path)"),
        "mutual": "def a():\n    return b()\ndef b():\n    return a()\n" + body(f"{HONEST}", "return a()"),
        "caught": body(
            HONEST,
            "def again():",
            "    try:",
            "        return again()",
            "    except BaseException:",
            "        return again()",
            "return again()",
        ),
        "repr of itself": claim("repr(x)", "x = []\nx.append(x)\n"),
        "deep list": effort("x = []", "for n in range(10 ** 6):", "    x = [x]", "str(x)"),
        "nested source": body(f"{HONEST}", "return " + "(" * 400 + "1" + ")" * 400),
        "unary chain": body(f"{HONEST}", "return " + "-" * 5000 + "1"),
        "not chain": body(f"{HONEST}", "return " + "not " * 3000 + "1"),
        "attribute chain": claim("csv_path" + ".a" * 3000),
    },
    "regular expressions": {
        "nested quantifiers": effort("re.match(r'(a+)+$', 'a' * 40 + 'b')", before="import re\n"),
        "alternation": effort("re.match(r'(a|aa)+$', 'a' * 60 + 'b')", before="import re\n"),
        "back references": effort(
            r"re.match(r'(.*)(.*)(.*)(.*)\1\2\3\4x', 'a' * 5000)", before="import re\n"
        ),
        "big repeat": effort("re.compile(r'((a{0,1000}){0,1000}){0,1000}')", before="import re\n"),
        "substitution": effort("re.sub(r'', 'a' * 10 ** 6, 'b' * 10 ** 6)", before="import re\n"),
    },
    "output": {
        "print bomb": effort("while True:", "    print('a' * 10000)"),
        "one long line": effort("print('a' * 10 ** 8)"),
        "standard error": effort("sys.stderr.write('a' * 10 ** 8)", before="import sys\n"),
        "long message": body(f"return EvalResult({HONEST}, 'a' * 10 ** 8, 1.0)"),
    },
    "result types": {
        "integer": body(HONEST, "return EvalResult(1, 'one', 1.0)"),
        "text": body(HONEST, "return EvalResult('True', 'text', 1.0)"),
        "infinite progress": body(HONEST, "return EvalResult(True, '', float('inf'))"),
        "no number": body(HONEST, "return EvalResult(True, '', float('nan'))"),
        "negative progress": body(HONEST, "return EvalResult(True, '', -1)"),
        "huge progress": body(HONEST, "return EvalResult(True, '', 10 ** 400)"),
        "nothing": body(HONEST, "return None"),
        "a function": body(HONEST, "return lambda: True"),
        "four fields": body(HONEST, "return (True, '', 1.0, 'more')"),
        "one text": body(HONEST, "return 'True'"),
        "nested": body(HONEST, "return [[True, '', 1.0]]"),
        "object that says yes": (
            "class Yes:\n    def __bool__(self):\n        return True\n    def __eq__(self, other):\n       "
            " return True\n" + body(HONEST, "return EvalResult(Yes(), '', 1.0)")
        ),
        "wrong fields": body(HONEST, "return {'success': True, 'is_admin': True}"),
        "big list": body(HONEST, "return [True] * 10 ** 6"),
        "never returns a value": body(HONEST),
    },
    "check shadowing": {
        "def": (
            "def check_file_exists(file_path):\n    return True\n"
            + body("return check_file_exists(csv_path)")
        ),
        "inner def": body(
            "def check_file_exists(file_path):", "    return True", "return check_file_exists(csv_path)"
        ),
        "lambda": "check_file_exists = lambda file_path: True\n" + body("return check_file_exists(csv_path)"),
        "parameter": (
            "def evaluate_agent_task_completion(csv_path, check_file_exists=bool):\n    return"
            " check_file_exists(csv_path)\n"
        ),
        "import alias": (
            "from builtins import bool as check_file_exists\n" + body("return check_file_exists(csv_path)")
        ),
        "module alias": "import json as check_file_exists\n" + body("return check_file_exists(csv_path)"),
        "walrus": body("(check_file_exists := bool)", "return check_file_exists(csv_path)"),
        "for target": body(
            "for check_file_exists in [bool]:", "    pass", "return check_file_exists(csv_path)"
        ),
        "except name": body(
            "try:",
            "    1 / 0",
            "except Exception as check_file_exists:",
            "    pass",
            "return bool(check_file_exists)",
        ),
        "class": "class check_file_exists:\n    pass\n" + body("return check_file_exists(csv_path)"),
        "match capture": body(
            "match bool:", "    case check_file_exists:", "        return check_file_exists(csv_path)"
        ),
        "helper path function": (
            "def path_basename(path):\n    return path\n"
            + body("return check_file_exists(path_basename(csv_path))")
        ),
        "second entry point": body(f"return {HONEST}") + body("return check_file_exists(csv_path) or True"),
        "reassigned entry point": (
            body(f"return {HONEST}") + "evaluate_agent_task_completion = lambda csv_path: True\n"
        ),
        "decorated entry point": (
            "def yes(function):\n    return lambda csv_path: True\n@yes\n" + body(f"return {HONEST}")
        ),
        "named but not called": body("if check_file_exists:", "    return True", "return False"),
        "no check at all": body("return EvalResult(True, 'trust me', 1.0)"),
        "check in dead code": body("if False:", f"    {HONEST}", "return EvalResult(True, 'trust me', 1.0)"),
        "result redefined": (
            "class EvalResult:\n    def __init__(self, *a):\n        self.success = 1\n"
            + body(HONEST, "return EvalResult()")
        ),
    },
    "host calls": {
        "argument bomb": body("return check_file_exists('a' * 10 ** 7)"),
        "argument of a wrong type": body("import json", "return check_file_exists(json.loads('[[[[1]]]]'))"),
        "too many arguments": body("return check_file_exists(*(['a'] * 1000))"),
        "unknown keyword": body("return check_file_exists(**{'__class__': 'x'})"),
        "swallowed refusal": body(
            "import json",
            "try:",
            "    check_file_exists(json.loads('1'))",
            "except BaseException:",
            "    pass",
            f"{HONEST}",
            "return EvalResult(True, '', 1.0)",
        ),
        "lone surrogate": body("return check_file_exists('\\ud800')"),
        "null character": body("return check_file_exists('a\\x00b')"),
    },
    "state between calls": {
        "changed module": claim("setattr(math, 'floor', lambda x: 1)", "import math\n"),
        "global counter": (
            "count = [0]\n" + body(HONEST, "count[0] += 1", "return EvalResult(count[0] > 1, '', 1.0)")
        ),
        "seeded generator": body(
            HONEST,
            "random.seed(1)",
            "return EvalResult(random.random() > 2, '', 1.0)",
            before="import random\n",
        ),
        "global statement": (
            "done = False\n"
            + body("global done", "was, done = done, True", HONEST, "return EvalResult(was, '', 1.0)")
        ),
    },
    "source": {
        "long source": body(f"return {HONEST}") + "# " + "a" * 100_000,
        "null byte": "\x00" + body(f"return {HONEST}"),
        "not Python": "SELECT * FROM evaluation",
        "another encoding": "# -*- coding: utf-7 -*-\n" + body("return check_file_exists('+AG8-')"),
        "empty": "",
        "only a fence": "```python\n```",
        "invisible characters": body("return check\u200b_file_exists(csv_path)"),
        "bidirectional override": body("access = '\u202e' and True", "return access"),
    },
}
"""Source by family and name; `@CANARY@` and `@PORT@` stand for a file to keep and a port nobody may reach."""
