"""A pool of the paper's size: 255 subtasks, 49 applications in 12 categories, 40 resource categories."""

from __future__ import annotations

import random

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.subtask import BoundSubtask, instance_id
from taskloom.taskgraph.records.task import Intent

APPLICATIONS = 49
APPLICATION_CATEGORIES = 12
RESOURCE_CATEGORIES = 40
SUBTASKS = 255
_VALUES = 3


def synthetic_pool(
    seed: int = 0, *, parameter_sets: int = 2, intents: int = 600
) -> tuple[list[BoundSubtask], list[Intent], dict[str, frozenset[Resource]]]:
    """Bound subtasks, intents of 6 to 16 linked subtasks each, and fixtures by application."""
    generator = random.Random(seed)
    kinds = [
        ResourceKind.CLIPBOARD if number < 3 else ResourceKind.RECORD if number < 12 else ResourceKind.FILE
        for number in range(RESOURCE_CATEGORIES)
    ]
    templates = []
    for number in range(SUBTASKS):
        application = number % APPLICATIONS
        inputs = generator.sample(range(RESOURCE_CATEGORIES), generator.choices([0, 1, 2], [2, 5, 2])[0])
        free = [category for category in range(RESOURCE_CATEGORIES) if category not in inputs]
        outputs = generator.sample(free, generator.choices([1, 2], [4, 1])[0])
        templates.append((application, inputs, outputs))
    nodes: list[BoundSubtask] = []
    by_template: dict[int, list[BoundSubtask]] = {}
    for number, (application, inputs, outputs) in enumerate(templates):
        for _ in range(parameter_sets):
            value = generator.randrange(_VALUES)

            def resource(category: int, value: int = value, application: int = application) -> Resource:
                kind = kinds[category]
                slot = kind is ResourceKind.CLIPBOARD
                return Resource(
                    category=f"category_{category:02}",
                    kind=kind,
                    application=f"application_{application % 7}" if kind is ResourceKind.RECORD else "",
                    value="" if slot else f"value_{value}",
                )

            parameters = {"value": f"value_{value}"}
            name = f"subtask_{number:03}"
            node = BoundSubtask(
                instance_id=instance_id(name, parameters),
                subtask_id=name,
                application=f"application_{application:02}",
                application_category=f"category_of_applications_{application % APPLICATION_CATEGORIES:02}",
                instruction=f"Do {name} with {parameters['value']}.",
                parameters=parameters,
                inputs=tuple(resource(category) for category in inputs),
                outputs=tuple(resource(category) for category in outputs),
            )
            nodes.append(node)
            by_template.setdefault(number, []).append(node)
    fixtures = {
        f"application_{application:02}": frozenset(
            resource
            for node in nodes
            if node.application == f"application_{application:02}"
            for resource in node.inputs
            if resource.slot is None and generator.random() < 0.4
        )
        for application in range(APPLICATIONS)
    }
    return nodes, _intents(templates, intents, generator), fixtures


def _intents(
    templates: list[tuple[int, list[int], list[int]]], number: int, generator: random.Random
) -> list[Intent]:
    """Groups that grow along resource links, as a model groups subtasks that serve one goal."""
    intents = []
    for index in range(number):
        size = generator.randint(6, 16)
        group = [generator.randrange(SUBTASKS)]
        while len(group) < size:
            touched = {
                category for member in group for category in templates[member][1] + templates[member][2]
            }
            linked = [
                candidate
                for candidate, (_, inputs, outputs) in enumerate(templates)
                if candidate not in group and touched.intersection(inputs + outputs)
            ]
            group.append(generator.choice(linked))
        intents.append(
            Intent(
                intent_id=f"intent_{index:03}",
                text=f"Goal {index}",
                subtask_ids=tuple(f"subtask_{member:03}" for member in sorted(group)),
            )
        )
    return intents
