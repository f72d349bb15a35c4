"""Generated source is parsed quietly, and while other threads parse."""

import ast
import warnings

import pytest

from taskloom.taskgraph.records.evaluation_function import parse_source


@pytest.mark.parametrize("troubles", [0, 1, 3])
def test_a_count_that_another_thread_upset_is_begun_anew(
    troubles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse, left = ast.parse, [SystemError("AST constructor recursion depth mismatch")] * troubles

    def upset(code: str) -> ast.Module:
        if left:
            raise left.pop()
        return parse(code)

    monkeypatch.setattr(ast, "parse", upset)
    assert ast.unparse(parse_source("a  =  1")) == "a = 1"
    assert not left


def test_a_parser_that_never_works_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(code: str) -> ast.Module:
        raise SystemError(code)

    monkeypatch.setattr(ast, "parse", broken)
    with pytest.raises(SystemError, match="a = 1"):
        parse_source("a = 1")


@pytest.mark.parametrize("code", ["def (", "x = '\x00'", "(" * 5_000])
def test_what_is_not_python_says_so(code: str) -> None:
    with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
        parse_source(code)


def test_what_the_parser_only_warns_of_is_kept_off_the_terminal() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(parse_source("1 is 1\n'\\d'"), ast.Module)
