"""Every module that decides something has a test: by its name, by its import, or through what is named
here."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.architecture.sources import MODULES, ROOT, module_name, tree

TESTS = ROOT / "tests"
FEWEST_DECISIONS = 5
"""A module with fewer branches is plain enough to be tested by what uses it."""
_DECISIONS = (ast.If, ast.IfExp, ast.While, ast.Try, ast.Match)
PLUG_INS = {
    "taskloom.cli.commands": "architecture/test_documentation.py",
    "taskloom.evaluators_api.checks": "evaluators_api/test_checks.py",
    "taskloom.evaluators_api.state.formats": "evaluators_api/state/test_formats.py",
    "taskloom.model_clients.providers": "model_clients/test_provider_conformance.py",
    "taskloom.warehouse.exports": "warehouse/test_exporting.py",
    "taskloom.omnieval.agents": "flows/test_run_experiment.py",
    "taskloom.warehouse.imports": "warehouse/test_foreign_collections.py",
}
"""Folders of plug-ins, with the test that runs over every module found there, or says which test does."""
TESTED_THROUGH = {
    "taskloom.interface.runs": "flows/test_python_page.py",
    "taskloom.cli.predictions": "omnieval/test_action_metrics.py",
    "taskloom.cli.options": "flows/test_stopped_runs.py",
    "taskloom.environments.platforms.linux_desktop.image.modules.pyautogui": (
        "environments/linux_desktop/test_machine_server.py"
    ),
    "taskloom.environments.platforms.linux_desktop.environment": "environments/test_platforms.py",
    "taskloom.environments.platforms.linux_desktop.server.accessibility": "environments/test_platforms.py",
    "taskloom.environments.platforms.linux_desktop.server.display": "environments/test_platforms.py",
    "taskloom.environments.platforms.linux_desktop.server.inputs": "environments/test_platforms.py",
    "taskloom.environments.platforms.simulated.applications": (
        "environments/simulated_platform/test_simulated.py"
    ),
    "taskloom.environments.platforms.simulated.platform": "environments/simulated_platform/test_simulated.py",
    "taskloom.environments.platforms.web_browser.servers.relay": (
        "environments/web_browser/test_confined_servers.py"
    ),
    "taskloom.evaluators_api.state.records": "evaluators_api/test_state_checks.py",
    "taskloom.flows.experimenting.checking": "flows/test_run_experiment.py",
    "taskloom.flows.experimenting.derived_tasks": "flows/test_run_experiment.py",
    "taskloom.flows.experimenting.finishing": "flows/test_run_experiment.py",
    "taskloom.flows.experimenting.fixing": "flows/test_run_experiment.py",
    "taskloom.flows.experimenting.judging_again": "flows/test_run_experiment.py",
    "taskloom.flows.stages.agent_evaluation": "flows/test_run_experiment.py",
    "taskloom.flows.stages.agents": "flows/test_run_experiment.py",
    "taskloom.flows.stages.attempt_judging": "flows/test_run_experiment.py",
    "taskloom.flows.nights.choices": "flows/nights/test_nights.py",
    "taskloom.flows.planning.composition_planning": "cli/test_plan_command.py",
    "taskloom.model_clients.batches": "model_clients/test_batches.py",
    "taskloom.model_clients.wire.anthropic_computer": "synthesis/test_computer_agent.py",
    "taskloom.model_clients.wire.anthropic_json": "model_clients/test_provider_conformance.py",
    "taskloom.model_clients.wire.openai_computer": "synthesis/test_computer_agent.py",
    "taskloom.model_clients.wire.openai_json": "model_clients/test_provider_conformance.py",
    "taskloom.model_clients.wire.sdk_calls": "model_clients/test_trouble.py",
    "taskloom.offline.conditions.state": "offline/test_rules.py",
    "taskloom.offline.conditions.screen": "offline/test_rules.py",
    "taskloom.offline.phrasebook": "offline/test_telling_and_reading.py",
    "taskloom.offline.summarizer": "offline/test_telling_and_reading.py",
    "taskloom.omnieval.asking.model_agents": "omnieval/test_model_agents.py",
    "taskloom.omnieval.experiments": "flows/test_run_experiment.py",
    "taskloom.omnieval.reports.figures": "flows/test_run_experiment.py",
    "taskloom.omnieval.reports.standings": "flows/test_run_experiment.py",
    "taskloom.omnieval.reports.tables": "flows/test_run_experiment.py",
    "taskloom.synthesis.composition.groups": "synthesis/test_composition_closed_sets.py",
    "taskloom.synthesis.composition.enumeration": "synthesis/test_composition_closed_sets.py",
    "taskloom.synthesis.evaluation_functions.evaluation_functions": "synthesis/test_cross_verification.py",
    "taskloom.synthesis.examination.other_content": "synthesis/test_given_otherwise.py",
    "taskloom.warehouse.exporting.training_records": "warehouse/test_exporting.py",
    "taskloom.warehouse.importing.task_lists": "warehouse/test_foreign_collections.py",
    "taskloom.warehouse.viewer.bounded_queries": "warehouse/viewer/test_sql_page.py",
    "taskloom.warehouse.viewer.pages.dataset_pages": "warehouse/viewer/test_pages.py",
    "taskloom.warehouse.viewer.pages.recording_pages": "warehouse/viewer/test_pages.py",
}
"""Modules that are tested through another one, with the test that does it."""


@cache
def modules() -> dict[str, Path]:
    return {module_name(path).removesuffix(".__init__"): path for path in MODULES}


@cache
def imported(path: Path) -> frozenset[str]:
    """Our modules that the module at `path` imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{item.name}" for item in node.names)}
        elif isinstance(node, ast.Import):
            names |= {item.name for item in node.names}
    return frozenset(names & modules().keys())


def decisions(path: Path) -> int:
    nodes = list(ast.walk(tree(path)))
    filters = sum(len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    return filters + sum(isinstance(node, _DECISIONS) for node in nodes)


def folder(name: str) -> str:
    return name.rpartition(".")[0]


@cache
def with_a_test() -> frozenset[str]:
    """Modules with a test of their name or an import by a test, and those of the same folder that these
    use."""
    named = {path.stem.removeprefix("test_") for path in TESTS.rglob("test_*.py")}
    by_tests = frozenset[str]().union(*(imported(path) for path in TESTS.rglob("*.py")))
    direct = {name for name in modules() if name in by_tests or name.rpartition(".")[2] in named}
    used = {
        other
        for name in direct
        for other in imported(modules()[name])
        if f"{folder(other)}.".startswith(f"{folder(name)}.")
    }
    return frozenset(direct | used)


def test_every_module_that_decides_something_has_a_test() -> None:
    bare = [
        name
        for name, path in sorted(modules().items())
        if name not in with_a_test()
        and name not in TESTED_THROUGH
        and folder(name) not in PLUG_INS
        and decisions(path) >= FEWEST_DECISIONS
    ]
    assert bare == [], "write a test module for each, or name in TESTED_THROUGH the test that runs it"


def test_a_module_that_is_named_exists_and_so_does_its_test() -> None:
    named = TESTED_THROUGH | PLUG_INS
    assert sorted(named.keys() - modules().keys()) == [], "there is no such module"
    assert sorted(test for test in named.values() if not (TESTS / test).is_file()) == []
