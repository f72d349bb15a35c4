"""Additional instances of subtasks, bound to the products of other subtasks.

The first input may be any product of its category. Outputs that are named after the input, or may have any
name, are named after the product. Replay shows whether the instances work.
"""

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.worlds import World, stem_of
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask

_ROUNDS = 3
"""Rounds of binding, each to the previous one's products: the longest chain of new links."""


def linked(
    nodes: Sequence[BoundSubtask],
    subtasks: Mapping[str, Subtask],
    categories: Mapping[str, ResourceCategory],
    *,
    most: int,
    seed: int = 0,
    worlds: Mapping[str, World] | None = None,
) -> list[BoundSubtask]:
    """Up to `most` additional instances per world: `subtasks` bound to products of `nodes` and of each other.

    A subtask takes each product of others once. If there are more instances, a different random sample is
    taken in every world. The `worlds` provide the names of things and the phrases for them in sentences.
    """
    by_world: defaultdict[str, list[BoundSubtask]] = defaultdict(list)
    for node in nodes:
        by_world[node.world].append(node)
    found: list[BoundSubtask] = []
    for world, world_nodes in sorted(by_world.items()):
        linking = _Linking(
            world_nodes, subtasks, categories, random.Random(f"{seed} {world}"), (worlds or {}).get(world)
        )
        for _ in range(_ROUNDS):
            found += linking.next_round(most // _ROUNDS)
    return found


class _Linking:
    def __init__(
        self,
        nodes: Sequence[BoundSubtask],
        subtasks: Mapping[str, Subtask],
        categories: Mapping[str, ResourceCategory],
        generator: random.Random,
        world: World | None,
    ) -> None:
        self._subtasks, self._world = subtasks, world
        self._examples: defaultdict[Resource, dict[str, list[BoundSubtask]]] = defaultdict(dict)
        for node in sorted(nodes, key=lambda node: node.subtask_id):
            subtask = subtasks.get(node.subtask_id)
            if subtask is not None and subtask.inputs and subtask.inputs[0].parameter:
                self._examples[_without_value(node.inputs[0])].setdefault(node.subtask_id, []).append(node)
        self._categories = categories
        self._generator = generator
        self._bound_products = {(node.subtask_id, item) for node in nodes for item in node.inputs}
        self._latest = nodes
        self._place_ranks: dict[Resource, float] = {}

    def next_round(self, most: int) -> list[BoundSubtask]:
        found = []
        products = [
            (node, item)
            for node in self._latest
            for item in node.outputs
            if item.slot is None and item.value and item not in node.inputs
        ]
        self._generator.shuffle(products)
        for producer, product in products:
            for name, examples in self._examples.get(_without_value(product), {}).items():
                if name != producer.subtask_id and (name, product) not in self._bound_products:
                    instance = self._bind_to(self._subtasks[name], examples, product)
                    if instance is not None:
                        self._bound_products.add((name, product))
                        found.append(instance)
        self._generator.shuffle(found)
        self._latest = found[:most]
        return found[:most]

    def _place_rank(self, example: BoundSubtask) -> float:
        """The rank of the best place for products; the same for all in one world, so products meet."""
        places = [item for item in example.inputs[1:] if item.slot is None]
        return min(
            (self._place_ranks.setdefault(item, self._generator.random()) for item in places), default=0
        )

    def _bind_to(
        self, subtask: Subtask, examples: Sequence[BoundSubtask], product: Resource
    ) -> BoundSubtask | None:
        """An instance of `subtask` that takes `product` as its first input, modelled on one of the
        `examples`, or None if that is impossible."""
        shuffled = self._generator.sample(examples, len(examples))
        for example in sorted(shuffled, key=self._place_rank):
            values = _renamed_parameters(
                subtask, example, subtask.inputs[0].parameter, product.value, self._world
            )
            if values is not None:
                return subtask.bind(values, self._categories, example.world)
        return None


def _without_value(resource: Resource) -> Resource:
    return resource.model_copy(update={"value": ""})


def _renamed_parameters(
    subtask: Subtask, example: BoundSubtask, parameter: str, value: str, world: World | None
) -> dict[str, str] | None:
    """The parameters of `example` with a new value; outputs named after the old value are renamed after it.

    None if the origin of a product's name is unknown or the name is that of the input. The names of records
    are of unknown origin, since such a record may have existed before.
    """
    old_value = example.parameters[parameter]
    values = {**example.parameters, parameter: value}
    for declared, output in zip(subtask.outputs, example.outputs, strict=True):
        name = declared.parameter
        if not name or name == parameter or example.parameters[name] == old_value:
            continue
        old_name = example.parameters[name]
        is_title = output.kind is not ResourceKind.FILE and " " in old_name
        values[name] = old_name if is_title else _replace_name(old_name, old_value, value)
        needs_free_name = values[name] == old_name or output.kind is not ResourceKind.FILE
        if needs_free_name and name not in subtask.fresh:
            return None
        if values[name] == old_name and not (output.kind is ResourceKind.FILE and _combines_files(example)):
            values[name] = _derive_name(old_name, value, world)
        if values[name] == value:
            return None
    return values


def _combines_files(node: BoundSubtask) -> bool:
    """Whether several files go into the product, so it is not named after one of them."""
    files = [item.value for item in node.inputs if item.kind is ResourceKind.FILE and not item.is_transient]
    return sum(bool(PurePosixPath(value).suffix) for value in files) > 1


def _replace_name(text: str, old_value: str, new_value: str) -> str:
    """Replace the name of `old_value` in `text` by that of `new_value`, both without suffix.

    >>> _replace_name("Downloads/sales-export.csv", "Documents/sales.gnumeric", "Documents/stock.gnumeric")
    'Downloads/stock-export.csv'
    """
    old, new = PurePosixPath(old_value).stem, PurePosixPath(new_value).stem
    return re.sub(rf"(?<![^\W_]){re.escape(old)}(?![^\W_])", lambda _: new, text) if old else text


def _derive_name(old_name: str, product: str, world: World | None = None) -> str:
    """A name in the form of `old_name` for what is made from `product`.

    The name of a file says what it is made from; a title is the phrase for the product in a sentence. If
    `old_name` is the name of another thing in `world`, only its form is used.

    >>> _derive_name("SummerBreads", "Documents/kiosk_list.txt"), _derive_name("Breads to try", "KioskList")
    ('KioskList', 'Kiosk list')
    >>> _derive_name("Documents/number.txt", "Downloads/stock-export.csv"), _derive_name("men", "Stock list")
    ('Documents/stock_export_number.txt', 'stock_list')
    """
    path, words = PurePosixPath(old_name), _words(PurePosixPath(product).stem)
    if path.suffix:
        old_words = (
            [] if world and (world.occasions_of(old_name) or world.use(old_name)) else _words(path.stem)
        )
        return str(path.with_name("_".join(dict.fromkeys([*words, *old_words])) + path.suffix))
    if old_name[:1].isupper() and " " in old_name:
        title = (_phrase(product, world) if world else "") or " ".join(words)
        return title[:1].upper() + title[1:]
    if old_name[:1].isupper():
        return "".join(word.capitalize() for word in words)
    return "_".join(words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.split(r"[\W_]+|(?<=[^\W\dA-Z_])(?=[A-Z])", name) if word]


def _phrase(product: str, world: World) -> str:
    """The phrase for a product in a sentence, or for another form of it."""
    others = (phrase for name, phrase in world.phrases.items() if stem_of(name) == stem_of(product))
    return world.phrase(product) or next(others, "")
