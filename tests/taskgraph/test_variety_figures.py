import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.taskgraph.measures.variety_figures import variety_of, words_of

DIFFERENT = [
    "Attach the plan to the page.",
    "Move both files to Documents, please.",
    "I want a chart of sales.",
]


def test_equal_texts_have_no_variety() -> None:
    figures = variety_of(["Attach the plan to the page."] * 4)
    assert figures is not None
    assert figures.self_bleu_4 == pytest.approx(1.0)
    assert figures.nearest_overlap == 1.0
    assert figures.distinct_2 == pytest.approx(0.25)


def test_different_texts_have_much_of_it() -> None:
    figures = variety_of(DIFFERENT)
    assert figures is not None
    assert figures.self_bleu_4 < 0.05
    assert figures.nearest_overlap < 0.2
    assert figures.distinct_2 > 0.9


def test_nothing_and_a_single_text() -> None:
    assert variety_of([]) is None
    figures = variety_of(["Attach it."])
    assert figures is not None
    assert (figures.texts, figures.self_bleu_4, figures.nearest_overlap) == (1, 0.0, 0.0)


@given(st.lists(st.text(alphabet="ab c.", max_size=30), min_size=1, max_size=8))
def test_all_shares_are_shares(texts: list[str]) -> None:
    figures = variety_of(texts)
    assert figures is not None
    for share in (figures.distinct_1, figures.distinct_2, figures.self_bleu_4, figures.nearest_overlap):
        assert 0.0 <= share <= 1.0 + 1e-9


def test_paths_and_names_are_one_word() -> None:
    assert words_of("Save it as Documents/q3-report.csv!") == [
        "save",
        "it",
        "as",
        "documents/q3-report.csv",
        "!",
    ]
