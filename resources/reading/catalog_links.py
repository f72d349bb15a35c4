"""What must hold between catalogue entries: fixtures agree, and every input is there or made by some
subtask."""

from collections.abc import Iterable, Iterator, Mapping

from taskloom.resources.applications import Application
from taskloom.resources.assets import content_of
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource, bind_resource
from taskloom.resources.reading.yaml_reading import Problem


def check_links(
    applications: Iterable[Application], categories: Mapping[str, ResourceCategory]
) -> dict[str, list[Problem]]:
    """Everything wrong between entries, by application; entries must be right by themselves."""
    entries = list(applications)
    made = {output for application in entries for output in _outputs_of(application, categories)}
    contents: dict[str, tuple[str, bytes]] = {}
    problems = {
        item.name: [*_check_contents(item, categories, contents), *_check_inputs(item, categories, made)]
        for item in entries
    }
    return {name: found for name, found in problems.items() if found}


def _outputs_of(application: Application, categories: Mapping[str, ResourceCategory]) -> Iterator[Resource]:
    """The files and records that the curated subtasks of an application make, with every parameter set."""
    for subtask in application.example_subtasks:
        for item in subtask.outputs:
            if item.parameter and not categories[item.category].is_slot:
                for values in subtask.parameter_sets:
                    yield bind_resource(categories[item.category], application.name, values[item.parameter])


def fixtures_of(application: Application, categories: Mapping[str, ResourceCategory]) -> Iterator[Resource]:
    """The files and records that exist after every reset of an application."""
    for fixture in application.fixtures:
        yield bind_resource(categories[fixture.category], application.name, fixture.value)


def _check_contents(
    application: Application,
    categories: Mapping[str, ResourceCategory],
    contents: dict[str, tuple[str, bytes]],
) -> Iterator[Problem]:
    for index, fixture in enumerate(application.fixtures):
        if categories[fixture.category].kind is not ResourceKind.FILE:
            continue
        content = content_of(fixture.content, application)
        owner, first = contents.setdefault(fixture.value, (application.name, content))
        if first != content:
            wrong = f"differs from the content of {fixture.value!r} in {owner!r}"
            rule = "a path has one content in the whole catalogue, best kept as an asset"
            yield Problem(("fixtures", index, "content"), f"{wrong}; {rule}")


def _check_inputs(
    application: Application, categories: Mapping[str, ResourceCategory], made: set[Resource]
) -> Iterator[Problem]:
    available = made | set(fixtures_of(application, categories))
    for index, subtask in enumerate(application.example_subtasks):
        for item in subtask.inputs:
            category = categories[item.category]
            for position, values in enumerate(() if category.is_slot else subtask.parameter_sets):
                value = values[item.parameter]
                if bind_resource(category, application.name, value) in available:
                    continue
                yield Problem(
                    ("example_subtasks", index, "parameter_sets", position, item.parameter),
                    f"{value!r} is needed as {category.name!r}, but is not a fixture of {application.name!r}"
                    " and no subtask of the catalogue makes it; add a fixture, or use a value that is made",
                )
