"""What parses hostile text survives any text: static analysis, text matching, result parsing, paths, the
sandbox."""

import ast

from hypothesis import strategies as st

from taskloom.evaluators_api.evidence.sandbox_paths import relative_to_home
from taskloom.evaluators_api.interpreter.dialect import unfence
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings, parse_result
from taskloom.evaluators_api.interpreter.static_analysis import LARGEST_SOURCE, analyse
from taskloom.evaluators_api.text_matching import (
    document_contains,
    has_phrase,
    read_in_picture,
    shown_in,
)
from taskloom.taskgraph.text_folding import fold_label, fold_text, same_label
from tests.evaluators_api.attacks import ATTACKS
from tests.evaluators_api.realistic_functions import CASES, FINISHED, PARAMETERS
from tests.fuzz.rounds import fuzz
from tests.limits import work_within

SOURCES = [case.source for case in CASES] + [
    source for family in ATTACKS.values() for source in family.values()
]
PIECES = st.sampled_from(
    [
        "check_file_exists(",
        "check_mouse_clicks",
        "def",
        "class",
        "lambda",
        "yield",
        "await",
        "import",
        "from",
        "os.path",
        "Path(",
        ")",
        "]",
        "}",
        "[",
        "{",
        ":",
        "=",
        "==",
        ":=",
        ",",
        ".",
        "\\",
        "\n",
        "\n",
        "",
        "",
        "",
        "\t",
        "'''",
        '"',
        "f'{x!r:>{y}}'",
        "{{",
        "}}",
        "```",
        "```python",
        "__class__",
        "eval(",
        "not",
        "if",
        "else",
        "for",
        "in",
        "while",
        "True:",
        "match",
        "case",
        "_:",
        "@",
        "*",
        "**",
        "%",
        "1e999",
        "0x",
        "10**9",
        "\x00",
        "\ufeff",
        "\u202e",
        "\ud7ff",
        "EvalResult(",
        "evaluate_agent_task_completion(",
        "global",
        "nonlocal",
        "try:",
        "except*",
        "del",
    ]
)


@st.composite
def spoiled_sources(draw: st.DrawFn) -> str:
    """A function as models or attackers write it, with pieces cut out, put in, doubled or swapped."""
    source = draw(st.sampled_from(SOURCES))[: LARGEST_SOURCE // 4]
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(source)))
        end = min(len(source), start + draw(st.integers(0, 40)))
        source = (
            source[:start]
            + draw(st.one_of(PIECES, st.text(max_size=8), st.just(source[start:end] * 2)))
            + source[end:]
        )
    return source


TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map("".join))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=20),
        st.binary(max_size=5),
        st.complex_numbers(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.sampled_from(["success", "message", "progress", "other"]), inner, max_size=4),
        st.sets(st.integers(), max_size=3),
    ),
    max_leaves=8,
)


def test_static_analysis_always_answers() -> None:
    def target(source: str) -> None:
        with work_within(5):
            analysis = analyse(source, ("csv_path", "note"))
        assert bool(analysis.problems) != bool(analysis.prepared)
        if analysis.prepared:
            ast.parse(analysis.prepared)
            assert analysis.checks_called
        else:
            assert analysis.message
        unfence(source)

    fuzz(target, st.one_of(spoiled_sources(), st.lists(PIECES, max_size=60).map(" ".join), st.text()))


def test_text_matching_always_answers_and_agrees_with_itself() -> None:
    def target(first: str, second: str) -> None:
        for answer in (same_label, shown_in, has_phrase, document_contains, read_in_picture):
            assert answer(first, second) in (True, False)
        assert fold_label(fold_text(first)) == fold_label(fold_text(fold_text(first)))
        if same_label(first, second):
            assert shown_in(first, second) and read_in_picture(first, second)
        if not fold_text(first):
            assert not shown_in(first, second) and not document_contains(first, second)

    fuzz(target, TEXTS, TEXTS)


def test_result_parsing_always_answers() -> None:
    def target(value: object) -> None:
        parsed = parse_result(value)
        if parsed.outcome == "result":
            assert parsed.result is not None
            assert isinstance(parsed.result.success, bool)
            assert 0.0 <= parsed.result.progress <= 1.0
            parsed.result.model_dump_json()
        else:
            assert parsed.outcome == "bad_result" and parsed.message

    fuzz(target, VALUES)


def test_paths_never_leave_the_home() -> None:
    def target(path: str) -> None:
        relative = relative_to_home(path)
        if relative is not None:
            assert not relative.startswith("/")
            assert ".." not in relative.split("/")

    fuzz(
        target,
        st.one_of(
            TEXTS,
            st.lists(
                st.sampled_from(["..", "/", "\\", "~", "C:", "home", "user", "a", ".", "file://", "%55"]),
                max_size=8,
            ).map("".join),
        ),
    )


def test_the_sandbox_always_answers() -> None:
    with EvaluationSandbox(
        SandboxSettings(workers=1, seconds=0.1, grace_seconds=0.2, memory_bytes=16 << 20)
    ) as sandbox:

        def target(source: str) -> None:
            evaluation = sandbox.evaluate(source, PARAMETERS, FINISHED)
            assert (evaluation.result is None) == (evaluation.outcome != "result")
            assert evaluation.result is not None or evaluation.message
            evaluation.model_dump_json()
            again = sandbox.evaluate(source, PARAMETERS, FINISHED)
            assert again == evaluation or "timed_out" in (again.outcome, evaluation.outcome)

        fuzz(target, spoiled_sources(), examples=40)
