"""Records that are there after a reset and that proposals read: the entry of a new application seldom names
them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from taskloom.evaluators_api.evidence.starting_state import mentions
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog_links import fixtures_of
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.exploration import FoundRecord
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask


def found_records(
    subtasks: Iterable[Subtask],
    application: Application,
    categories: Mapping[str, ResourceCategory],
    start: Evidence,
    provenance: Provenance,
) -> tuple[FoundRecord, ...]:
    """Record inputs of `subtasks` that the state or the screen after a reset mentions, each once.

    Values that one of them gives to something new are none, even where a longer text mentions them, and
    neither are those that the entry names.
    """
    subtasks = tuple(subtasks)
    known = {*fixtures_of(application, categories), *_made_new(subtasks, categories)}
    found: dict[str, FoundRecord] = {}
    for subtask in subtasks:
        for parameters in subtask.available_parameters:
            fresh = {parameters[name] for name in subtask.fresh}
            for item in subtask.bind(parameters, categories).inputs:
                if (
                    item.kind is not ResourceKind.RECORD
                    or item in known
                    or not item.value
                    or item.value in fresh
                ):
                    continue
                if mentions(start, item.value):
                    told = "\0".join((application.name, application.version, item.category, item.value))
                    name = hashlib.sha256(told.encode()).hexdigest()[:16]
                    found[name] = FoundRecord(
                        record_id=name,
                        application=application.name,
                        version=application.version,
                        category=item.category,
                        value=item.value,
                        provenance=provenance,
                    )
    return tuple(found.values())


def _made_new(subtasks: Iterable[Subtask], categories: Mapping[str, ResourceCategory]) -> Iterator[Resource]:
    for subtask in subtasks:
        for parameters in subtask.available_parameters:
            fresh = {parameters[name] for name in subtask.fresh}
            yield from (item for item in subtask.bind(parameters, categories).outputs if item.value in fresh)


def with_records(application: Application, records: Iterable[FoundRecord]) -> Application:
    """The entry with the records as fixtures; those of another version are left out."""
    named = {(item.category, item.value) for item in application.fixtures}
    added = {
        (item.category, item.value): item.fixture
        for item in records
        if (item.application, item.version) == (application.name, application.version)
        and (item.category, item.value) not in named
    }
    return application.model_copy(update={"fixtures": (*application.fixtures, *added.values())})
