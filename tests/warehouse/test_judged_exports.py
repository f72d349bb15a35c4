"""Exports that are judged elsewhere by the files in a home folder: Harbor, CUA-Gym, rows for reinforcement
learning."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from taskloom.evaluators_api.checks.declaration import check_facts
from taskloom.evaluators_api.judging_folders import judge_home, read_sheet
from taskloom.resources.applications import Fixture, Launch, Preparation
from taskloom.resources.noise import NoisePlace
from taskloom.taskgraph.records.effect import Allowance
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, JudgingSheet
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError, InexpressibleError
from taskloom.warehouse.exporting.exporting import ExportSource
from taskloom.warehouse.exporting.judging_sheets import sheet_of
from taskloom.warehouse.exporting.machine_setup import START_COPY, start_script
from taskloom.warehouse.exports.cua_gym import card_of
from taskloom.warehouse.store import Warehouse
from tests.warehouse.sample_parts import SOURCE, file_resource, shop
from tests.warehouse.samples import export, records


def written(warehouse: Warehouse, source: str) -> None:
    """Give every function of the sample another source."""
    warehouse.write(
        [
            item.model_copy(update={"source": source})
            for item in records()
            if isinstance(item, EvaluationFunction)
        ],
        replace=True,
    )


def sheet(warehouse: Warehouse) -> JudgingSheet:
    (task,) = warehouse.read(Task, "task_id = 'task-1'")
    return sheet_of(task, ExportSource(warehouse, ("task-1",), checks=check_facts()))


def homes(folder: Path) -> tuple[Path, Path]:
    """A home at the start and the same after right work."""
    start, home = folder / "start", folder / "home"
    for place in (start, home):
        (place / "Documents").mkdir(parents=True)
        (place / "Documents/start.csv").write_text("x")
    (home / "a.csv").write_text("a,b\n1,2\n")
    return start, home


def test_a_check_that_nothing_is_known_of_is_refused(filled: Warehouse) -> None:
    (task,) = filled.read(Task, "task_id = 'task-1'")
    with pytest.raises(InexpressibleError, match=r"calls check_[a-z_]+, which is about more than files"):
        sheet_of(task, ExportSource(filled, ("task-1",)))


def test_harbor_packages_have_what_harbor_looks_for(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "harbor", tmp_path / "out")

    (place,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    configuration = tomllib.loads((place / "task.toml").read_text())
    assert configuration["task"]["name"] == f"taskloom/{place.name}"
    assert configuration["metadata"]["task_id"] == "task-1"
    assert configuration["metadata"]["dependency_level"] == "easy"
    assert (
        place / "instruction.md"
    ).read_text().strip() == "In notes, create 'a.csv', then in sheets, chart 'a.csv'."
    assert "taskloom install --only notes,sheets" in (place / "environment/Dockerfile").read_text()
    ast.parse((place / "environment/start.py").read_text())
    assert (place / "tests/test.sh").stat().st_mode & 0o111
    assert read_sheet(place / "tests/sheet.json") == sheet(sampled)


def test_a_home_folder_is_judged_by_the_functions_of_the_sheet(sampled: Warehouse, tmp_path: Path) -> None:
    start, home = homes(tmp_path)

    assert judge_home(sheet(sampled), start, home).reward == 1
    untouched = judge_home(sheet(sampled), start, start)
    assert (untouched.reward, untouched.coverage) == (0, 0)
    assert "there is no file" in untouched.subtasks[0].message
    (home / "a.csv").write_text("c\n")
    assert judge_home(sheet(sampled), start, home).reward == 0


def test_the_judge_command_writes_the_reward_file_of_harbor(sampled: Warehouse, tmp_path: Path) -> None:
    start, home = homes(tmp_path)
    export(sampled, "harbor", tmp_path / "out")
    arguments = [
        *(sys.executable, "-m", "taskloom.cli.main", "judge", str(tmp_path / "out/task-1/tests/sheet.json")),
        *("--start", str(start), "--reward", str(tmp_path / "logs/reward.json"), "--home"),
    ]

    right = subprocess.run([*arguments, str(home)], capture_output=True, text=True, check=False)
    assert (right.returncode, json.loads((tmp_path / "logs/reward.json").read_text())) == (
        0,
        {"reward": 1.0, "coverage": 1.0},
    )
    wrong = subprocess.run([*arguments, str(start)], capture_output=True, text=True, check=False)
    assert (wrong.returncode, json.loads((tmp_path / "logs/reward.json").read_text())["reward"]) == (1, 0.0)
    nowhere = subprocess.run([*arguments, str(tmp_path / "no")], capture_output=True, text=True, check=False)
    assert nowhere.returncode == 2 and "There is no folder" in nowhere.stderr


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("check_mouse_clicks('Save')", "calls check_mouse_clicks, which is about more than files"),
        ("check_copied('clipboard', csv_path)", "compares with the clipboard"),
        ("get_file_text(csv_path.upper(), at_start=True) == ''", "a state between the subtasks"),
        ("check_window('a')", "no file shows whether"),
        ("check_window('a') or check_file_exists(csv_path)", "mixes files with what the screen shows"),
        ("get_clipboard_text() == 'a'", "compares with the clipboard"),
        ("1 == 1", "no file shows whether"),
    ],
)
def test_what_cannot_be_judged_by_files_at_the_end_is_refused(
    filled: Warehouse, condition: str, reason: str
) -> None:
    written(
        filled,
        f"def evaluate_agent_task_completion(csv_path):\n    return EvalResult({condition}, '', 1.0)\n",
    )

    with pytest.raises(InexpressibleError, match=reason):
        sheet(filled)


@pytest.mark.parametrize(
    "body",
    [
        (
            "    rows = [(check_file_exists(csv_path), 'no'), (check_window('W'), 'not in front'), (not"
            " check_window('V'), 'x')]\n    wrong = [text for holds, text in rows if not holds]\n    return"
            " EvalResult(not wrong, str(wrong), 1.0)\n"
        ),
        (
            "    if check_text_exists('Error') or not check_window('W') or not check_file_exists(csv_path):\n"
            "        return EvalResult(False, 'no', 0.0)\n"
            "    return EvalResult(True, '', 1.0)\n"
        ),
        "    return EvalResult(check_window('W') and check_file_exists(csv_path), '', 1.0)\n",
        "    return check_file_exists(csv_path) and not check_text_exists('Error')\n",
    ],
)
def test_conditions_of_the_screen_are_taken_out_and_those_of_files_decide(
    filled: Warehouse, tmp_path: Path, body: str
) -> None:
    written(filled, f"def evaluate_agent_task_completion(csv_path):\n{body}")
    start, home = homes(tmp_path)

    found = sheet(filled)

    assert {"check_window", "check_text_exists"} & set(found.subtasks[0].left_out)
    assert judge_home(found, start, home).reward == 1
    assert judge_home(found, start, start).reward == 0


def test_a_subtask_without_a_file_is_judged_through_those_that_use_what_it_makes(filled: Warehouse) -> None:
    screen = "def evaluate_agent_task_completion(csv_path):\n    return check_clipboard_text('x')\n"
    filled.write(
        [
            item.model_copy(update={"source": screen})
            for item in records()
            if isinstance(item, EvaluationFunction) and item.subtask_id == "notes.create"
        ],
        replace=True,
    )

    found = sheet(filled)

    assert [item.partition(":")[0] for item in found.through_others] == ["notes.create"]
    assert [item.instance_id.partition(":")[0] for item in found.subtasks] == ["sheets.chart"]


OPEN = ".applications/desk/open document.txt"


@pytest.mark.parametrize(
    ("target", "condition"),
    [
        ("clipboard", "check_copied(source='clipboard', target='b.csv', whole=True)"),
        ("clipboard", "check_file_text(file_path='b.csv', text=get_clipboard_text(at_start=True))"),
        (OPEN, f"check_copied(source='{OPEN}', target='b.csv', whole=True)"),
    ],
)
def test_what_an_earlier_subtask_copied_or_opened_is_known_from_its_file(
    filled: Warehouse, tmp_path: Path, target: str, condition: str
) -> None:
    given = f"check_copied(source='Documents/start.csv', target='{target}', whole=True)"
    conditions = {"notes.create": given, "sheets.chart": condition}
    filled.write(
        [
            item.model_copy(
                update={
                    "source": "def evaluate_agent_task_completion(csv_path):\n"
                    f"    return {conditions[item.subtask_id]}\n"
                }
            )
            for item in records()
            if isinstance(item, EvaluationFunction) and item.subtask_id in conditions
        ],
        replace=True,
    )
    start, home = homes(tmp_path)

    found = sheet(filled)

    assert [item.given_from for item in found.subtasks] == [{target: "Documents/start.csv"}]
    assert judge_home(found, start, home).reward == 0
    (home / "b.csv").write_text("x")
    assert judge_home(found, start, home).reward == 1
    (home / "b.csv").write_text("y")
    assert judge_home(found, start, home).reward == 0


def test_a_task_whose_subtasks_undo_each_other_cannot_be_judged_at_the_end(filled: Warehouse) -> None:
    (task,) = filled.read(Task, "task_id = 'task-1'")
    first, second = task.graph.nodes
    moving = second.model_copy(update={"consumed": (file_resource("a.csv"),)})
    undoing = task.model_copy(update={"graph": task.graph.model_copy(update={"nodes": (first, moving)})})

    with pytest.raises(InexpressibleError, match=r"volatile: sheets\.chart changes"):
        sheet_of(undoing, ExportSource(filled, ("task-1",), checks=check_facts()))


def test_cua_gym_bundles_agree_with_their_table(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "cua_gym", tmp_path / "out")

    (row,) = pyarrow.parquet.read_table(tmp_path / "out/data/tasks.parquet").to_pylist()
    with (
        pa.input_stream(str(tmp_path / "out" / row["archive_path"]), compression="zstd") as stream,
        tarfile.open(fileobj=io.BytesIO(stream.read())) as archive,
    ):
        bundle = {
            member.name: member_file.read().decode()
            for member in archive
            if (member_file := archive.extractfile(member)) is not None
        }
    task = json.loads(bundle[row["task_json_member"]])
    assert set(bundle) == {row["task_json_member"], row["reward_member"], *row["setup_file_members"]}
    assert all(name.startswith(f"{row['archive_member']}/") for name in bundle)
    assert [task[name] for name in ("id", "instruction", "app_type")] == [
        row[name] for name in ("id", "instruction", "app_type")
    ]
    assert len(task["config"]) == row["num_setup_steps"]
    assert task["config"][0]["parameters"]["files"] == [
        {"url": "./initial_setup.py", "path": "/home/user/initial_setup.py"}
    ]
    assert task["evaluator"] == {"type": "python", "url": "./reward.py"}
    start, home = homes(tmp_path)
    for place, reward in ((home, "REWARD: 1.0\n"), (start, "REWARD: 0.0\n")):
        text = bundle[row["reward_member"]].replace(START_COPY, str(start)).replace("/home/user", str(place))
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        assert done.stdout == reward


@pytest.mark.parametrize("names", [[""], ["test", "train"]])
def test_a_cua_gym_folder_is_loaded_as_its_table_alone(
    sampled: Warehouse, tmp_path: Path, names: list[str]
) -> None:
    datasets = pytest.importorskip("datasets", reason="the package `datasets` is not installed")
    export(sampled, "cua_gym", tmp_path / "out")
    table = tmp_path / "out/data/tasks.parquet"
    if names != [""]:
        for name in names:
            (table.parent / f"tasks_{name}.parquet").write_bytes(table.read_bytes())
        (tmp_path / "out/README.md").write_text(card_of(names))

    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))

    assert {name: rows.num_rows for name, rows in loaded.items()} == {name or "train": 1 for name in names}
    assert next(iter(loaded.values()))[0]["archive_member"]


def test_rows_for_reinforcement_learning_carry_the_sheet(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "verifiers", tmp_path / "out")

    (line,) = (tmp_path / "out/train.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert JudgingSheet.model_validate(json.loads(row["info"])["sheet"]) == sheet(sampled)


@pytest.mark.parametrize("name", ["harbor", "cua_gym", "verifiers"])
def test_an_export_without_a_task_that_can_be_judged_says_why(
    filled: Warehouse, tmp_path: Path, name: str
) -> None:
    written(filled, "def evaluate_agent_task_completion(csv_path):\n    return check_window('x')\n")

    with pytest.raises(ExportRefusedError, match="no file shows whether"):
        export(filled, name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_start_script_prepares_the_home_and_keeps_a_copy(tmp_path: Path) -> None:
    application = shop(
        preparation=Preparation(files={"settings.ini": "home={home}"}),
        launch=Launch(serve="{install}"),
        fixture=Fixture(category="csv_path", value="Documents/a.csv", content="a,b\n"),
    )
    home = tmp_path / "home"
    (home / "applications/shop").mkdir(parents=True)
    text = start_script([application]).replace("/home/user", str(home)).replace("/var/lib", str(tmp_path))
    text = text.replace('if step["type"] == "launch"', 'if step["type"] == "launch" and False')
    text = text.replace("range(600)", "range(1)")

    subprocess.run([sys.executable, "-c", text], check=True)

    copy = tmp_path / "taskloom/start"
    assert (copy / "Documents/a.csv").read_text() == (home / "Documents/a.csv").read_text() == "a,b\n"
    assert not (copy / "applications").exists() and (home / "applications").is_dir()
    assert (tmp_path / "taskloom/ready").exists()


def test_an_outsider_tells_damage_beside_the_work_from_what_is_stored_with_the_functions(
    filled: Warehouse, tmp_path: Path
) -> None:
    written(filled, SOURCE)
    start, home = homes(tmp_path)
    unknown = sheet(filled)
    assert unknown.allowed is None and judge_home(unknown, start, home).clean is None

    place = Allowance(container="{csv_path}", kind="added", most=1)
    functions = [
        item.model_copy(update={"allowed": (place,) if item.accepted else None})
        for item in filled.read(EvaluationFunction)
    ]
    filled.write(functions, replace=True)
    kept = [item.allowed for item in filled.read(EvaluationFunction, "accepted")]
    assert kept and all(item == (place,) for item in kept)

    found = JudgingSheet.model_validate_json(sheet(filled).model_dump_json())
    assert judge_home(found, start, home).clean
    (home / "Documents/start.csv").unlink()
    judged = judge_home(found, start, home)
    assert judged.side_effects is not None and judged.side_effects.files_lost == 1
    assert not judged.clean and judged.subtasks[0].success
    quiet = NoisePlace(container="Documents/start.csv", kind="removed")
    assert judge_home(found.model_copy(update={"noise": (quiet,)}), start, home).clean
