"""Records that are there after a reset and that proposals read: the entry of a new application seldom names
them."""

import hashlib
from collections.abc import Iterable, Mapping

from taskloom.evaluators_api.evidence.starting_state import mentions
from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.reading.catalog_checks import fixtures_of
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
    bound = [
        (subtask.bind(parameters, categories), {parameters[name] for name in subtask.fresh})
        for subtask in subtasks
        for parameters in subtask.available_parameters
    ]
    made_new = {item for node, fresh in bound for item in node.outputs if item.value in fresh}
    known = {*fixtures_of(application, categories), *made_new}
    found: dict[str, FoundRecord] = {}
    for node, fresh in bound:
        for item in node.inputs:
            is_known = item in known or not item.value or item.value in fresh
            if item.kind is ResourceKind.RECORD and not is_known and mentions(start, item.value):
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
