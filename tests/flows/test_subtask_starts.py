"""What another subtask did meanwhile is no fault of the one that is judged."""

from taskloom.flows.stages.subtask_starts import possible_starts
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.subtask import BoundSubtask


def state(step: int, *paths: str) -> Evidence:
    files = tuple(FileState(path=path, size=1, sha256="0" * 64, text=path) for path in sorted(paths))
    return Evidence(step=step, files=files)


def node(path: str) -> BoundSubtask:
    return BoundSubtask(
        instance_id=path,
        subtask_id="x",
        application="notes",
        application_category="",
        instruction="",
        parameters={},
        outputs=(Resource(category="text_path", kind=ResourceKind.FILE, value=path),),
    )


STATES = (state(0), state(1, "b-draft"), state(2, "a", "b-draft"), state(3, "a", "b", "b-draft"))


def paths(evidence: Evidence) -> list[str]:
    return [file.path for file in evidence.files]


def test_alone_a_subtask_is_judged_from_where_it_became_open() -> None:
    assert [item.step for item in possible_starts(STATES, 0, [])] == [0]


def test_files_of_completed_subtasks_are_taken_as_they_were_completed() -> None:
    first, merged, later = possible_starts(STATES, 0, [(2, node("a"))])
    assert paths(first) == []
    assert paths(merged) == ["a"]
    assert paths(later) == ["a", "b-draft"]


def test_what_was_completed_before_it_became_open_is_in_its_start_already() -> None:
    assert [item.step for item in possible_starts(STATES, 2, [(2, node("a"))])] == [2]
