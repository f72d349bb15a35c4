"""Packages that bring more of a kind: a tiny one of each kind is installed in a temporary place and used."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskloom.resources.errors import PluginBrokenError
from tests.architecture.test_adding import NOVEL_PLATFORM
from tests.architecture.test_adding_commands_and_data import NOVEL_EXPORT, NOVEL_IMPORT

Install = Callable[[str, Mapping[str, str], Mapping[str, str]], None]
"""Installs a distribution: its name, its files, and its entry points as `group.name` to value."""
NOVEL_CHECKS = '''"""Checks."""
from __future__ import annotations
from taskloom.evaluators_api.checks.declaration import check

@check("files")
def check_novelty(scene, path: str) -> bool:
    """Whether it is new."""
    return path == "a"

@check("files")
def check_file_exists(scene, path: str) -> bool:
    """Taken."""
    return True
'''
ASKING = """
def evaluate_agent_task_completion() -> EvalResult:
    if check_novelty("a"):
        return EvalResult(True, "it is new", 1.0)
    return EvalResult(False, "it is not new", 0.0)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    before = set(sys.modules)
    count = 0

    def put(distribution: str, files: Mapping[str, str], entries: Mapping[str, str]) -> None:
        nonlocal count
        count += 1
        place = tmp_path / f"site-{count}"
        info = place / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = []
        for key, value in entries.items():
            group, _, name = key.rpartition(".")
            lines += [f"[taskloom.{group}]", f"{name} = {value}"]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(place))

    yield put
    for name in set(sys.modules) - before:
        if name.startswith("novelty"):
            del sys.modules[name]


def test_formats_of_another_package_read_and_write(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.cli.main import create_app

    install(
        "novelty-formats",
        {"novelty_in.py": NOVEL_IMPORT, "novelty_out.py": NOVEL_EXPORT},
        {"imports.lines": "novelty_in", "exports.lines": "novelty_out"},
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.txt").write_text("Open the page.\n", encoding="utf-8")
    place = ["--warehouse", str(tmp_path / "warehouse")]
    came = CliRunner().invoke(create_app(), ["import", "lines", "tasks.txt", *place])
    assert "tasks: 1" in came.output, came.exception
    went = CliRunner().invoke(create_app(), ["export", "lines", "--out", "out", *place])
    assert went.exit_code == 0, went.exception
    assert (tmp_path / "out" / "novel.txt").read_text(encoding="utf-8") == "Open the page."
    listed = json.loads(CliRunner().invoke(create_app(), ["export", "--list", "--json"]).output)
    assert {"name": "lines", "description": "A new format: a line per task."} in listed


def test_a_metric_of_another_package_is_measured(install: Install) -> None:
    from taskloom.omnieval.scoring import score_of
    from tests.omnieval.test_metrics import DIAMOND

    install("novelty", {"novelty.py": "def measure(attempt): return 0.25"}, {"metrics.novelty": "novelty"})
    assert score_of(DIAMOND, ["s0"]).further_metrics == {"novelty": 0.25}


def test_checks_of_another_package_can_be_asked(install: Install) -> None:
    from taskloom.evaluators_api.checks import declaration
    from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox, SandboxSettings
    from taskloom.evaluators_api.reference import type_stubs
    from taskloom.taskgraph.records.evidence import Evidence

    install("novelty", {"novelty_checks.py": NOVEL_CHECKS}, {"checks.novelty": "novelty_checks"})
    declaration.checks.cache_clear()
    type_stubs.cache_clear()
    try:
        assert declaration.checks()["check_file_exists"].function.__module__.startswith("taskloom.")
        with EvaluationSandbox(SandboxSettings(isolation="never")) as sandbox:
            assert sandbox.evaluate(ASKING, {}, Evidence(step=0)).passed
    finally:
        declaration.checks.cache_clear()
        type_stubs.cache_clear()


def test_a_platform_of_another_package_makes_environments(install: Install, tmp_path: Path) -> None:
    from taskloom.environments.lookup import create_environment
    from taskloom.flows.settings import load_settings
    from taskloom.flows.wiring import choose_applications

    install("novelty", {"novelty_platform.py": NOVEL_PLATFORM}, {"platforms.novel": "novelty_platform"})
    made = create_environment("novel", {"seed_of_novelty": 7})
    assert made == ("made", 7)  # type: ignore[comparison-overlap]
    present, _ = choose_applications(load_settings(platform="novel", data=tmp_path))
    assert list(present) == ["novel_notes"]


def test_a_provider_of_another_package_plays_roles(install: Install) -> None:
    from taskloom.flows.settings import load_settings
    from taskloom.model_clients.client import create_client

    install(
        "novelty",
        {"novelty.py": "def create(settings): return settings.model"},
        {"providers.novel": "novelty"},
    )
    settings = load_settings(assignments=["models.default.provider=novel", "models.default.model=novel-1"])
    assert create_client(settings.models.default) == "novel-1"  # type: ignore[comparison-overlap]


def test_an_agent_and_a_protocol_of_another_package_are_made(install: Install) -> None:
    from taskloom.flows.stages.agents import check_agent, known_agents
    from taskloom.omnieval.brief import AgentBrief, AgentTask
    from taskloom.omnieval.lookup import AGENTS, PROTOCOLS

    install(
        "novelty",
        {
            "novelty.py": "def create(brief): return brief.seed",
            "telling.py": "LIMITS = None\ndef instruction(task): ...\ndef answer(said): return said[:1]",
        },
        {"agents.novel": "novelty", "protocols.novel": "telling"},
    )
    check_agent("novel")
    assert "novel" in known_agents()
    brief = AgentBrief(task=AgentTask(task_id="t", instruction="Do it."), seed=4)
    assert AGENTS.load("novel").create(brief) == 4  # type: ignore[comparison-overlap]
    assert PROTOCOLS.load("novel").answer("yes") == "y"


def test_queries_of_another_package_have_names(install: Install) -> None:
    from taskloom.warehouse.queries import named_queries, named_query

    install(
        "novelty",
        {"novelty/__init__.py": "", "novelty/newest.sql": "-- What is new.\nSELECT 1 AS one\n",
         "novelty/funnel.sql": "-- Taken.\nSELECT 2 AS two\n"},
        {"queries.novelty": "novelty"},
    )  # fmt: skip
    assert named_query("newest").description == "What is new."
    assert named_query("funnel").description != "Taken."
    assert "newest" in named_queries()


def test_a_broken_package_is_named_and_costs_nothing_else(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    from taskloom.omnieval.lookup import METRICS
    from taskloom.omnieval.scoring import score_of
    from taskloom.warehouse.errors import UnknownFormatError
    from taskloom.warehouse.lookup import EXPORTS
    from tests.omnieval.test_metrics import DIAMOND

    install(
        "broken-things",
        {
            "novelty_raises.py": "raise RuntimeError('no licence')",
            "novelty_empty.py": "",
            "novelty_fails.py": "def measure(attempt): raise KeyError('x')",
        },
        {
            "exports.raises": "novelty_raises",
            "exports.empty": "novelty_empty",
            "exports.gone": "novelty_gone",
            "exports.osworld": "novelty_empty",
            "metrics.raises": "novelty_raises",
            "metrics.fails": "novelty_fails",
        },
    )
    with pytest.raises(PluginBrokenError, match=r"'raises' of the package broken-things .*: no licence"):
        EXPORTS.load("raises")
    with pytest.raises(PluginBrokenError, match=r"broken-things \(novelty_empty\) does not define write"):
        EXPORTS.load("empty")
    with pytest.raises(PluginBrokenError, match="broken-things cannot be loaded: ModuleNotFoundError"):
        EXPORTS.load("gone")
    assert EXPORTS.load("osworld").__name__ == "taskloom.warehouse.exports.osworld"  # type: ignore[attr-defined]
    with pytest.raises(UnknownFormatError, match=r"Did you mean 'osworld'\? Known: .*raises"):
        EXPORTS.load("osword")
    described = {row["name"]: row["description"] for row in EXPORTS.described()}
    assert "broken-things" in described["raises"] and "broken-things" not in described["omnibench"]
    assert {name for name, _ in EXPORTS.problems()} == {"raises", "empty", "gone", "osworld"}
    with caplog.at_level(logging.WARNING):
        assert score_of(DIAMOND, ["s0"]).further_metrics == {}
        score_of(DIAMOND, ["s0"])
    told = [record.getMessage() for record in caplog.records]
    assert len([text for text in told if "broken-things" in text]) == 2, told
    assert set(METRICS.names()) >= {"raises", "fails", "coverage_rate"}


def test_a_name_that_two_packages_bring_is_nobodys(install: Install) -> None:
    from taskloom.warehouse.lookup import EXPORTS

    for name in ("one-package", "other-package"):
        install(name, {"novelty.py": "def write(source, folder, options): ..."}, {"exports.novel": "novelty"})
    with pytest.raises(PluginBrokenError, match="one-package") as caught:
        EXPORTS.load("novel")
    assert re.search("other-package", str(caught.value))
