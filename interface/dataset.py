"""A stored dataset: its tasks and recordings, SQL over it, exports of it, and environments of its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.querying import QueryResult
from taskloom.warehouse.store import Warehouse

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings
    from taskloom.interface.task_environment import TaskEnvironment
    from taskloom.warehouse.exporting.exporting import ExportOptions, Manifest
    from taskloom.warehouse.sets.selection import Selection


def open_dataset(location: str | Path | None = None, *, version: str | None = None) -> Dataset:
    """The dataset at `location`, read-only; by default that of the settings (`taskloom.yaml`, variables).

    Args:
        location: Folder or address of a warehouse.
        version: Dataset version, by name or tag; the current state by default.

    Raises:
        TaskloomError: there is no dataset, or no such version.
    """
    if location is None:
        from taskloom.flows.places import load_places

        location = load_places().warehouse_location
    return Dataset(Warehouse(location, read_only=True, version=version))


class Dataset:
    """A dataset, open for reading until it is closed or its `with` block ends.

    Iterating gives its validated tasks; `len` is their number.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        """The dataset in an open warehouse; use `open_dataset` to create it."""
        self._warehouse = warehouse

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Task]:
        return self.tasks()

    def __len__(self) -> int:
        return self._warehouse.count(Task, _VALIDATED)

    def close(self) -> None:
        """Release the files. May be called twice."""
        self._warehouse.close()

    def tasks(self, where: str = "") -> Iterator[Task]:
        """Validated tasks by id; only those that meet the SQL condition `where` over the columns of `tasks`.

        Raises:
            TaskloomError: the condition does not run.
        """
        yield from self._warehouse.read(Task, f"{_VALIDATED} AND ({where})" if where else _VALIDATED)

    def task(self, task_id: str) -> Task:
        """One task, validated or not.

        Raises:
            TaskloomError: there is no such task.
        """
        task = next(self._warehouse.read(Task, "task_id = ?", [task_id]), None)
        if task is None:
            known = [str(row["task_id"]) for row in self.sql("SELECT task_id FROM tasks LIMIT 5").as_dicts()]
            raise UnknownCatalogEntryError("task", task_id, known)
        return task

    def recordings(self, task: Task | str, *, pictures: bool = False) -> Iterator[Trajectory]:
        """The verified performances of a task's subtasks; with `pictures`, screenshots hold their bytes."""
        from taskloom.warehouse.exporting.exporting import ExportSource

        task_id = task if isinstance(task, str) else task.task_id
        yield from ExportSource(self._warehouse, (task_id,)).trajectories(pictures)

    def sql(self, query: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> QueryResult:
        """The result of one SELECT: `.table` is an Arrow table, `.as_dicts()` are rows.

        Raises:
            TaskloomError: it is not a SELECT, or does not run.
        """
        return self._warehouse.query(query, parameters)

    def export(
        self,
        format_name: str,
        folder: str | Path,
        selection: Selection | None = None,
        options: ExportOptions | None = None,
    ) -> Manifest:
        """Write the selected tasks, all by default, to `folder` in one of the formats of docs/formats.md.

        Raises:
            TaskloomError: there is no such format, the folder exists, or the format can express none of the
                tasks; nothing is left behind.
        """
        from taskloom.evaluators_api.checks.declaration import check_facts
        from taskloom.warehouse.exporting.exporting import export

        return export(self._warehouse, format_name, Path(folder), selection, options, checks=check_facts())

    def environment(
        self, *tasks: Task | str, settings: Settings | None = None, step_limit: int = 0, patience: int = 20
    ) -> TaskEnvironment:
        """An environment for attempts at `tasks` (tasks or ids); at all tasks of the dataset by default.

        Args:
            tasks: Tasks to attempt; `reset` chooses one.
            settings: Where applications are and how they are run; `load_settings()` by default.
            step_limit: Maximum steps of an attempt; 0 for the sum of what the settings allow its subtasks.
            patience: Steps without a newly completed subtask after which an attempt ends.

        Raises:
            TaskloomError: a task is unknown, its applications are not installed, or nothing confines the
                agent.
        """
        from taskloom.flows.settings import load_settings
        from taskloom.interface.task_environment import TaskEnvironment

        chosen = [self.task(item) if isinstance(item, str) else item for item in tasks] or list(self.tasks())
        return TaskEnvironment(self._warehouse, chosen, settings or load_settings(), step_limit, patience)


_VALIDATED = "status = 'validated'"
