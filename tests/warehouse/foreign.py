"""Small collections in other people's formats, as their authors lay them out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from taskloom.warehouse.importing.importing import ImportSummary, read_import, store_import
from taskloom.warehouse.store import Warehouse

OSWORLD = {
    "id": "e1e75309-3ddb-4d09-92ec-de869c928143",
    "snapshot": "chrome",
    "instruction": "Save this page as a PDF on the Desktop.",
    "source": "https://example.org",
    "config": [{"type": "launch", "parameters": {"command": ["google-chrome"]}}],
    "trajectory": "trajectories/",
    "related_apps": ["google-chrome"],
    "evaluator": {
        "func": "compare_pdfs",
        "result": {"type": "vm_file", "path": "/home/user/Desktop/a.pdf", "dest": "a.pdf"},
        "expected": {"type": "pdf_from_url", "path": "https://example.org", "dest": "b.pdf"},
    },
    "proxy": True,
    "fixed_ip": False,
    "possibility_of_env_change": "medium",
    "annotator_hint": {"kept": [1, None]},
}
OSWORLD_LISTS = {
    **OSWORLD,
    "related_apps": ["LibreOffice-Calc", "vscode"],
    "evaluator": {
        "func": ["compare_table", "exact_match"],
        "conj": "or",
        "result": [{"type": "vm_file"}, None],
        "expected": [{"type": "rule"}, {"type": "rule"}],
        "options": [{}, {}],
    },
}
OSWORLD_INFEASIBLE = {**OSWORLD, "id": "infeasible-1", "evaluator": {"func": "infeasible"}}

CRAB = {
    "description": (
        "Find the city of postal code 44145 in Germany and write it to /home/crab/Desktop/target.opt."
    ),
    "tasks": [
        {
            "task": "51b2463c-9904",
            "attribute": {"number": "44145", "country": "Germany"},
            "output": "Dortmund",
        },
        {
            "task": "76de4bdb-c98p",
            "attribute": {"file_path": "/home/crab/Desktop/target.odt"},
            "output": None,
        },
    ],
    "adjlist": "0 1\n1",
    "id": "05a7633d-b966",
}
OMNIBENCH_SUBTASKS: list[dict[str, Any]] = [
    {
        "id": "25e2a51e-c019-1a9a-0747-d16fe0e9d457d",
        "instruction_template": "Open '{xlsx_path}', select the all data, and copy it.",
        "application": "Excel",
        "available_parameters": [{"xlsx_path": "C:\\a.xlsx"}, {"xlsx_path": "C:\\b.xlsx"}],
        "OS": "Windows",
        "input_resources": ["xlsx_path"],
        "output_resources": ["table_in_clipboard", "xlsx_in_processing"],
    },
    {
        "id": "df3fc68b",
        "instruction_template": "Paste the table into a new mail.",
        "application": "Mail",
        "available_parameters": [],
        "OS": "Windows",
        "input_resources": ["table_in_clipboard"],
        "output_resources": [],
    },
]
OMNIBENCH_TASK: dict[str, Any] = {
    "task_instruction": "Open 'C:\\b.xlsx' in Excel, copy its data and paste it into a new mail.",
    "dag": {
        "nodes": ["25e2a51e-c019-1a9a-0747-d16fe0e9d457d", "df3fc68b"],
        "edges": {"25e2a51e-c019-1a9a-0747-d16fe0e9d457d": ["df3fc68b"], "df3fc68b": []},
    },
    "task_intent": "Mail a table",
    "successful_topo": [["25e2a51e-c019-1a9a-0747-d16fe0e9d457d", "df3fc68b"]],
}


def write(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def osworld(folder: Path) -> Path:
    write(folder, f"examples/chrome/{OSWORLD['id']}.json", OSWORLD)
    write(folder, f"examples/multi_apps/{OSWORLD['id']}.json", OSWORLD_LISTS)
    write(folder, "examples/chrome/infeasible-1.json", OSWORLD_INFEASIBLE)
    write(folder, "test_all.json", {"chrome": [OSWORLD["id"]]})
    return folder


def crab(folder: Path) -> Path:
    write(folder, f"cross/{CRAB['id']}.json", CRAB)
    return folder


def omnibench(folder: Path) -> Path:
    for item in OMNIBENCH_SUBTASKS:
        write(folder, f"subtasks/{item['id']}.json", item)
    write(folder, "tasks/12.json", OMNIBENCH_TASK)
    code = "def evaluate_agent_task_completion(xlsx_path):\n    return EvalResult(True, '', 1.0)\n"
    write(folder, f"evaluations/{OMNIBENCH_SUBTASKS[0]['id']}.py", code)
    return folder


def run_import(
    warehouse: Warehouse, format_name: str, path: Path, *, skip_broken: bool = False
) -> ImportSummary:
    """Store everything of `path`, as `taskloom import` does."""
    return store_import(warehouse, format_name, read_import(format_name, path, skip_broken=skip_broken))
