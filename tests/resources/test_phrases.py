"""Every curated subtask has its phrase, and it says what is to be said."""

import re

import pytest

from taskloom.resources.applications import PATH_PARTS, ExampleSubtask
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.taskgraph.records.subtask import placeholders

CURATED = [
    pytest.param(application.title, example, id=f"{application.name}.{example.name}")
    for application in load_applications().values()
    for example in application.example_subtasks
    if not application.simulated
]
CATEGORIES = load_resource_categories()
READ = {
    item.category
    for application in load_applications().values()
    for example in application.example_subtasks
    for item in example.inputs
}


def file_names(example: ExampleSubtask) -> set[str]:
    """Parameters that are the file name of another one in every set, so that who tells that one tells
    them."""
    return {
        name
        for name in example.parameter_sets[0]
        for other in example.parameter_sets[0]
        if name != other
        and all(values[other].endswith(f"/{values[name]}") for values in example.parameter_sets)
    }


def told(phrase: str, parameter: str) -> bool:
    return any(f"{{{parameter}{part}}}" in phrase for part in ("", *PATH_PARTS))


@pytest.mark.parametrize(("title", "example"), CURATED)
def test_phrases_name_all_parameters_and_nothing_else(title: str, example: ExampleSubtask) -> None:
    phrase = example.request
    parameters = set(example.parameter_sets[0])
    slots = {item.category for item in example.inputs if not item.parameter}
    allowed = parameters | slots | {name + part for name in parameters for part in PATH_PARTS}
    filed = {item.parameter for item in example.outputs if len(example.inputs) > 1} | file_names(example)
    assert {name for name in parameters - filed if not told(phrase, name)} == set()
    assert all(f"{{{slot}}}" in phrase for slot in slots)
    assert title in phrase
    assert phrase[0].islower()
    assert phrase.count("[") == phrase.count("]") <= 1
    assert set(placeholders(phrase)) <= allowed


@pytest.mark.parametrize("name", sorted(READ))
def test_what_is_read_can_be_named_and_named_again(name: str) -> None:
    category = CATEGORIES[name]
    assert category.again.startswith(("the ", "this "))
    assert category.is_slot == ("{value}" not in category.named)


@pytest.mark.parametrize(("title", "example"), CURATED)
def test_a_product_is_useless_for_applications_and_subtasks_that_exist(
    title: str, example: ExampleSubtask
) -> None:
    applications = load_applications()
    known = set(applications) | {
        f"{application.name}.{other.name}"
        for application in applications.values()
        for other in application.example_subtasks
    }
    assert {*example.useless_for, *example.not_with} <= known, title
    assert len(example.subjects) in (0, len(example.parameter_sets))
    assert not re.search(r"\s\s", example.request)
