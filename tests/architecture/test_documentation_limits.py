"""The written documentation stays short, its lines too, and every decision says whether it holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.documentation import pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DECISIONS = DOCS / "decisions"
GENERATED_PART = re.compile(r"<!-- [^>]*\bmake docs\b.*?<!-- end of [^>]*-->", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
LONGEST_LINE = 110


def written_pages() -> list[Path]:
    """README, CONTRIBUTING, ARCHITECTURE and the pages below docs/ that are not generated as a whole."""
    generated = {DOCS / name for name in pages()}
    named = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
    return named + [page for page in sorted(DOCS.rglob("*.md")) if page not in generated]


def words(page: Path) -> int:
    """The words of a page, without its generated parts and without signs such as the bars of tables."""
    text = GENERATED_PART.sub("", page.read_text(encoding="utf-8"))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def decisions() -> list[Path]:
    """The pages of decisions, without their index."""
    return [page for page in sorted(DECISIONS.glob("*.md")) if page.name != "README.md"]


def test_readme_can_be_read_in_five_minutes() -> None:
    assert words(ROOT / "README.md") <= 900


def test_all_written_pages_together_have_at_most_twenty_thousand_words() -> None:
    counted = {str(page.relative_to(ROOT)): words(page) for page in written_pages()}
    assert sum(counted.values()) <= 20_000, sorted(counted.items(), key=lambda item: -item[1])


def test_the_changelog_is_a_summary_until_there_is_a_release() -> None:
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_there_are_at_most_thirty_decisions_each_with_its_status() -> None:
    assert len(decisions()) <= 30
    for page in decisions():
        title, _, status = page.read_text(encoding="utf-8").splitlines()[:3]
        assert title.startswith("# "), page.name
        assert re.match(r"Status: (accepted|replaced by \[)", status), page.name


def test_the_index_lists_every_decision_once() -> None:
    listed = LINK.findall((DECISIONS / "README.md").read_text(encoding="utf-8"))
    assert sorted(name for name in listed if not name.startswith("..")) == [page.name for page in decisions()]


def long_lines(text: str) -> list[str]:
    """Lines of prose that are too long and could be broken: not code, tables, or a single link."""
    prose = FENCE.sub("", GENERATED_PART.sub("", text))
    unbreakable = re.compile(r"\||    |!?\[[^\]]*\]\([^)]*\)$")
    return [line for line in prose.splitlines() if len(line) > LONGEST_LINE and not unbreakable.match(line)]


def test_only_lines_that_could_be_broken_count_as_long() -> None:
    words = "word " * 30
    kept = f"short\n| {words}|\n```\n{words}\n```\n![{words}](a.png)\n    {words}\n"
    assert long_lines(kept) == []
    assert long_lines(f"short\n{words}\n") == [words]


@pytest.mark.parametrize(
    "page", [*written_pages(), ROOT / "CHANGELOG.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_lines_of_prose_fit_the_line_length(page: Path) -> None:
    assert long_lines(page.read_text(encoding="utf-8")) == []
