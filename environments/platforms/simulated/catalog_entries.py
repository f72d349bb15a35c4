"""Catalogue entries of the simulated applications, kept apart from the real ones."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from taskloom.resources.applications import Application
from taskloom.resources.reading.catalog_shorthand import expand_application
from taskloom.resources.reading.yaml_reading import parse_entry, read_yaml


@cache
def simulated_applications() -> tuple[Application, ...]:
    """The simulated applications with their example subtasks, by name."""
    folder = files("taskloom.environments.platforms.simulated") / "catalog"
    sources = [
        read_yaml(item.read_text(), item.name) for item in folder.iterdir() if item.name.endswith(".yaml")
    ]
    found = (parse_entry(source, expand_application(source.content), Application) for source in sources)
    return tuple(sorted(found, key=lambda entry: entry.name))
