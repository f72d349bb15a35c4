from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks.labelled_audit import CASES, judged
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.importing.audit import Finding, audit_reading, audit_records, audit_warehouse
from taskloom.warehouse.importing.importing import read_import, survey_import
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign
from tests.warehouse.samples import records


def checks(found: Iterable[Finding]) -> set[str]:
    return {item.check for item in found}


def with_task(**changes: object) -> list[Finding]:
    kept = records()
    return audit_records(
        [item.model_copy(update=changes) if isinstance(item, Task) else item for item in kept]
    )


def test_a_sound_dataset_has_no_findings(sampled: Warehouse) -> None:
    assert audit_warehouse(sampled) == []


def test_a_placeholder_left_in_an_instruction_is_an_error() -> None:
    (finding,) = with_task(instruction="Create 'a.csv' and chart {csv_path}.")

    assert (finding.check, finding.severity, finding.field) == ("placeholder", "error", "instruction")


def test_a_value_that_nothing_gives_is_an_error() -> None:
    assert checks(with_task(instruction="Create a table and chart it.")) == {"hidden_value"}


def test_a_value_that_the_instruction_contradicts_is_an_error() -> None:
    found = with_task(instruction="Create 'b.csv' and chart it.")

    assert checks(found) == {"contradicted_value"}
    assert "'b.csv'" in found[0].message


def test_an_empty_instruction_and_unsuccessful_orders_are_errors() -> None:
    assert "empty_instruction" in checks(with_task(instruction=""))
    assert "no_successful_order" in checks(with_task(successful_order_count=0))


def test_equal_tasks_are_found_by_instruction_and_graph() -> None:
    twin = next(item for item in records() if isinstance(item, Task)).model_copy(update={"task_id": "twin"})

    assert checks(audit_records([*records(), twin])) == {"duplicate_instruction", "duplicate_graph"}


def test_the_known_fault_of_a_crab_task_is_found(tmp_path: Path) -> None:
    (finding,) = audit_records(read_import("crab", foreign.crab(tmp_path)))

    assert finding.check == "contradicted_value"
    assert finding.file == f"cross/{foreign.CRAB['id']}.json"
    assert "target.odt" in finding.message and "target.opt" in finding.message


def test_unknown_metrics_and_missing_configuration_of_osworld_are_found(tmp_path: Path) -> None:
    bad = {
        **foreign.OSWORLD,
        "config": [],
        "evaluator": {"func": "compare_pfds", "result": {}, "expected": {}},
    }
    foreign.write(tmp_path, "chrome/a.json", bad)

    found = audit_records(read_import("osworld", tmp_path))

    assert checks(found) == {"unknown_metric", "missing_config", "missing_result"}
    assert {item.file for item in found} == {"chrome/a.json"}


def test_cyclic_links_of_taskbench_are_found(tmp_path: Path) -> None:
    found = audit_reading(survey_import("taskbench", foreign.taskbench(tmp_path)))

    assert "links_unclear" in checks(found)


def test_broken_items_are_findings_and_the_others_are_looked_at(tmp_path: Path) -> None:
    foreign.write(tmp_path, "chrome/a.json", {"id": "a", "instruction": "", "evaluator": "x"})
    foreign.write(
        tmp_path, "chrome/b.json", {**foreign.OSWORLD, "id": "b", "evaluator": {"func": "compare_pfds"}}
    )

    found = audit_reading(survey_import("osworld", tmp_path))

    assert [(item.item_id, item.field) for item in found if item.check == "format_broken"] == [
        ("osworld:chrome/a", "evaluator"),
        ("osworld:chrome/a", "instruction"),
    ]
    assert "unknown_metric" in checks(item for item in found if item.item_id == "osworld:chrome/b")


def test_errors_on_labelled_tasks_are_defects_and_defects_are_errors() -> None:
    answers = judged()

    assert {case.name: answers[case.name] for case in CASES} == {case.name: case.defective for case in CASES}


def test_a_pattern_that_an_instruction_asks_for_is_a_note(tmp_path: Path) -> None:
    told = "Name every file '${mrn}.json' and write a line '<case_id>: <latest_date>' into it."
    foreign.write(tmp_path, "a/task.json", {"id": "a", "env_id": "mail_env@1", "description": told})

    found = audit_records(read_import("cua_world", tmp_path))

    assert {(item.check, item.severity) for item in found} == {("pattern", "note")}
    assert len(found) == 3


def test_a_placeholder_whose_value_an_imported_task_has_is_an_error(tmp_path: Path) -> None:
    task = {
        "task_id": 1,
        "intent": "Find {thing}",
        "intent_template": "Find {thing}",
        "instantiation_dict": {"thing": "a kettle"},
        "sites": ["shopping"],
        "eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "Found"}},
    }
    foreign.write(tmp_path, "a.json", [task])

    assert ("placeholder", "error") in {
        (item.check, item.severity) for item in audit_records(read_import("web_arena", tmp_path))
    }


def test_names_that_only_the_evaluator_knows_are_found(tmp_path: Path) -> None:
    evaluator = {
        "func": "compare_table",
        "result": {"type": "vm_file", "path": "/home/user/Summary.xlsx", "dest": "a.xlsx"},
        "expected": {"type": "cloud_file", "path": "https://example.org/gold.xlsx", "dest": "b.xlsx"},
        "options": {"rules": [{"type": "sheet_data", "sheet_idx0": "RNTotals", "sheet_idx1": "ENTotals"}]},
    }
    task = {**foreign.OSWORLD, "instruction": "Add up the sales in a new sheet.", "evaluator": evaluator}
    said = "Add up the sales in a new sheet 'Totals' of summary.xlsx."
    foreign.write(tmp_path, "calc/a.json", task)
    foreign.write(tmp_path, "calc/b.json", {**task, "id": "b", "instruction": said})

    found = audit_records(read_import("osworld", tmp_path))

    assert {(item.file, item.check, item.severity) for item in found} == {
        ("calc/a.json", "unsaid_sheet", "warning"),
        ("calc/a.json", "unsaid_file", "note"),
    }
