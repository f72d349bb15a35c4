"""Static analysis refuses with line and remedy, and rewrites without changing what is meant."""

import pytest

from taskloom.evaluators_api.interpreter.static_analysis import LARGEST_SOURCE, analyse

HEAD = "def evaluate_agent_task_completion(path):\n"


def problems(source: str, *parameters: str) -> str:
    return analyse(source, parameters or ("path",)).message


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("    yield check_file_exists(path)", "line 2: `yield`"),
        ("    del path", "line 2: `del`"),
        ("    return eval('1')", "line 2: `eval`"),
        ("    return path.__class__", "`__class__`"),
        ("    import socket", "`socket` may not be imported"),
        ("    return '{0.__class__}'.format(path)", "format fields"),
        ("    return check_file_exists", "named but not called"),
        ("    return not check_file_exists or 1", "named but not called"),
        ("    return check_file_exists('')", "empty text"),
        ("    return path_basename(path)", "os.path.basename"),
        ("    return check_file_exist(path)", "did you mean `check_file_exists`"),
        ("    check_window = 1", "may not be redefined"),
        ("    class A(dict): pass", "inheritance"),
        ("    return open(path)", "`open`"),
    ],
)
def test_names_the_line_and_the_remedy(line: str, word: str) -> None:
    assert word in problems(HEAD + line + "\n")


def test_every_problem_is_reported_at_once() -> None:
    found = problems(HEAD + "    yield 1\n    del path\n    return eval('check_window')\n")
    assert all(word in found for word in ("`yield`", "`del`", "`eval`", "no check is called"))


@pytest.mark.parametrize(
    ("signature", "given", "refused"),
    [
        ("path", ("path",), False),
        ("", ("path",), False),
        ("path, more", ("path",), True),
        ("path, more=1", ("path",), False),
        ("path, *, more", ("path",), True),
        ("path, *, more='x'", ("path",), False),
        ("path, /", ("path",), True),
        ("**named", ("path",), False),
        ("parameters", ("path", "name"), True),
    ],
)
def test_parameters_must_be_the_subtasks(signature: str, given: tuple[str, ...], refused: bool) -> None:
    source = f"def evaluate_agent_task_completion({signature}):\n    return check_window('x')\n"
    assert bool(analyse(source, given).problems) is refused


def test_takes_only_the_parameters_that_the_function_names() -> None:
    source = "def evaluate_agent_task_completion(b, c=1):\n    return check_window(b)\n"
    assert analyse(source, ("a", "b")).parameters == ("b",)
    assert analyse(
        "def evaluate_agent_task_completion(**all):\n    return check_window('x')\n", ("a", "b")
    ).parameters == ("a", "b")


def test_lists_the_checks_that_are_called() -> None:
    source = HEAD + "    return check_window('a') and check_file_exists(path) and check_window('b')\n"
    assert analyse(source, ("path",)).checks_called == ("check_window", "check_file_exists")


@pytest.mark.parametrize(
    ("written", "prepared"),
    [
        ("os.path.basename(path)", "path_basename(path)"),
        ("os.path.join(os.path.dirname(path), 'x')", "path_join(path_dirname(path), 'x')"),
        ("os.path.exists(path)", "check_file_exists(path) or check_directory_exists(path)"),
        ("Path(path).suffix", "path_splitext(path_basename(path))[1]"),
        ("Path(path).is_dir()", "check_directory_exists(path)"),
        ("os.sep", "'/'"),
    ],
)
def test_path_habits_are_rewritten(written: str, prepared: str) -> None:
    source = f"import os\nfrom pathlib import Path\n{HEAD}    return check_window({written})\n"
    analysis = analyse(source, ("path",))
    assert analysis.problems == ()
    assert f"check_window({prepared})" in analysis.prepared
    assert "import os" not in analysis.prepared


def test_size_nesting_and_encoding_are_limited() -> None:
    assert "bytes" in problems("#" * (LARGEST_SOURCE + 1))
    assert "not Python" in problems("def f(:")
    assert problems("(" * 5000)
    assert "lone surrogates" in problems("x = '\ud800'")
    assert "not Python" in problems("\x00")


def test_the_first_fence_with_the_entry_point_is_the_code() -> None:
    reply = f"```sh\nls\n```\ntext\n````python\n{HEAD}    return check_window('```')\n````\n"
    assert analyse(reply, ("path",)).problems == ()
