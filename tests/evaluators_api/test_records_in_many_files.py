"""Records that an application keeps in a file each, under random names: what is paused, renamed and deleted
can be judged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.taskgraph.records.evidence import Evidence, FileState
from tests.servers.web_applications.watches import Watches

_FUNCTION = """
def evaluate_agent_task_completion(entry: str, title: str) -> EvalResult:
    conditions = [{conditions}]
    return EvalResult(all(conditions), str(conditions), sum(conditions) / len(conditions))
"""
_PATH = "get_record_path({'title': entry}, at_start=True)"
_CONDITIONS = {
    "delete": "check_record_count('', {'title': entry}, 0)",
    "pause": "check_record('', {'title': entry, 'paused': 'true'})",
    "rename": f"get_record_path({{'title': title}}) == {_PATH} != ''",
}


@pytest.fixture(scope="module")
def shared_sandbox() -> Iterator[EvaluationSandbox]:
    with EvaluationSandbox() as sandbox:
        yield sandbox


def state_of(watches: Watches) -> Evidence:
    files = []
    for path in sorted(path for path in watches.folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        files.append(
            FileState(
                path=f".applications/watches/{path.relative_to(watches.folder)}",
                size=len(content),
                sha256=hashlib.sha256(content).hexdigest(),
                text=content.decode(),
            )
        )
    return Evidence(step=0, files=tuple(files))


def delete(watches: Watches, name: str) -> None:
    watches.remove(name)


def pause(watches: Watches, name: str) -> None:
    watches.write(name, {**watches.all()[name], "paused": True})


def rename(watches: Watches, name: str) -> None:
    watches.write(name, {**watches.all()[name], "title": "New name"})


@pytest.mark.parametrize(
    ("touched", "right"),
    [(["Tides"], True), ([], False), (["Train times"], False)],
    ids=["right", "nothing", "another one"],
)
@pytest.mark.parametrize("work", [delete, pause, rename], ids=lambda item: item.__name__)
def test_one_record_among_many_files_is_judged(
    work: Callable[[Watches, str], None],
    touched: Sequence[str],
    right: bool,
    shared_sandbox: EvaluationSandbox,
    tmp_path: Path,
) -> None:
    watches = Watches(tmp_path / "watches")
    watches.add("Tides", "https://tides.test/today")
    before = state_of(watches)
    names = {str(watch["title"]): name for name, watch in watches.all().items()}
    for title in touched:
        work(watches, names[title])
    source = _FUNCTION.format(conditions=_CONDITIONS[work.__name__])
    judged = shared_sandbox.evaluate(
        source, {"entry": "Tides", "title": "New name"}, state_of(watches), before
    )
    assert judged.result is not None, judged.message
    assert judged.passed is right, judged.result.message


def test_a_record_of_several_files_has_no_path(shared_sandbox: EvaluationSandbox, tmp_path: Path) -> None:
    watches = Watches(tmp_path / "watches")
    watches.add("Tides", "https://tides.test/today")
    watches.add("Tides", "https://tides.test/tomorrow")
    source = _FUNCTION.format(conditions="get_record_path({'title': entry}) == ''")
    judged = shared_sandbox.evaluate(
        source, {"entry": "Tides", "title": ""}, state_of(watches), state_of(watches)
    )
    assert judged.passed, judged
