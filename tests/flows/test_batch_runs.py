"""A build whose calls are answered by batches, or from a file, ends with the dataset of a direct build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taskloom.cli.main import main
from taskloom.flows.settings import load_settings
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.model_clients.ledger.transfer import export_ledger, import_ledger
from taskloom.warehouse.store import Warehouse
from tests.flows.overheard import OverheardAnswers
from tests.servers.models.server import LocalModelServer
from tests.servers.models.threaded import in_a_thread

pytestmark = pytest.mark.slow

SMALL = [
    "--set=platform=simulated",
    "--set=composition.count=4",
    "--applications=simulated_notes,simulated_mail",
    "--set=intents.wanted=2",
    "--set=replay_share=0.2",
    "--quiet",
]
MOST_RUNS = 12


def run(command: str, data: Path, *options: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([command, "--data", str(data), *SMALL, *options])
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def direct(prefect_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("direct")
    assert run("build", data) == 0
    return data


def tasks_of(data: Path) -> list[tuple[object, ...]]:
    with Warehouse(data / "warehouse", read_only=True) as store:
        return list(store.query("SELECT task_id, status, instruction FROM tasks ORDER BY task_id").rows())


def funnel_of(data: Path) -> list[tuple[object, ...]]:
    with Warehouse(data / "warehouse", read_only=True) as store:
        return list(store.query("SELECT step, reason, items FROM funnel ORDER BY ALL").rows())


def answered(requests: Path, replies: Path, answers: OverheardAnswers) -> int:
    """Answer every request as the offline rules do."""
    lines = [json.loads(line) for line in requests.read_text().splitlines()]
    with replies.open("w") as file:
        for line in lines:
            shown = line["body"]["input"][-1]["content"][-1]["text"]
            file.write(json.dumps({"custom_id": line["custom_id"], "reply": answers.to(shown)}) + "\n")
    return len(lines)


def test_a_run_goes_on_from_file_to_file_and_ends_with_the_same_dataset(
    direct: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, requests, replies = tmp_path / "data", tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"
    asked: list[int] = []
    answers = OverheardAnswers(monkeypatch, load_settings(assignments=["platform=simulated"]))
    with in_a_thread(LocalModelServer(answerer=answers)) as server:
        model = {"provider": "openai", "model": "m", "base_url": server.url}
        given = [f"--set=models.default={json.dumps(model)}"]
        while (code := run("build", data, f"--batch-out={requests}", *given)) == 5:
            assert "--batch-in REPLIES" in capsys.readouterr().err
            assert not any(reason for _, reason, _ in funnel_of(data) if "pending" in str(reason))
            asked.append(answered(requests, replies, answers))
            given = [*given[:1], f"--batch-in={replies}"]
            assert len(asked) <= MOST_RUNS
    assert code == 0
    assert len(asked) >= 3
    assert asked == sorted(set(asked))
    assert tasks_of(data) == tasks_of(direct)
    assert funnel_of(data) == funnel_of(direct)
    with Warehouse(data / "warehouse", read_only=True) as store:
        assert store.query("SELECT count(*) FROM runs").scalar() == 1


def test_a_used_up_budget_ends_a_run_without_a_rejection_and_a_larger_one_finishes_it(
    direct: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    assert run("build", data, "--budget=60ktok") == 3
    assert "run again with a larger budget" in capsys.readouterr().err
    with Warehouse(data / "warehouse", read_only=True) as store:
        assert store.query("SELECT count(*) FROM rejections").scalar() == 0
        assert store.query("SELECT status FROM runs").scalar() == "budget_exhausted"
    assert run("build", data, "--budget=100Mtok") == 0
    assert tasks_of(data) == tasks_of(direct)
    assert funnel_of(data) == funnel_of(direct)


def test_a_replay_without_the_reply_names_the_call_and_a_replay_with_all_makes_the_same_dataset(
    direct: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    assert run("build", data, "--replay") == 2
    assert "Import the ledger of the run" in capsys.readouterr().err
    with Ledger(direct / "ledger.sqlite") as reference, Ledger(data / "ledger.sqlite") as empty:
        export_ledger(reference, tmp_path / "calls.sqlite")
        import_ledger(empty, tmp_path / "calls.sqlite")
    assert run("build", data, "--replay") == 0
    assert tasks_of(data) == tasks_of(direct)


def test_batches_and_a_file_of_requests_exclude_each_other(tmp_path: Path) -> None:
    assert run("build", tmp_path, "--batch", f"--batch-out={tmp_path / 'requests.jsonl'}") == 2


def test_a_file_of_requests_needs_a_model_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", tmp_path, f"--batch-out={tmp_path / 'requests.jsonl'}") == 2
    assert "played offline" in capsys.readouterr().err
