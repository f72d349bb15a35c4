"""Further bindings of subtasks, to what other subtasks make.

The first input may be any product of its category, and what is named after the input, or may have any name,
is named after the product. Whether it works is for replay to show.
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
"""How often work goes on with what was bound here: a chain of so many new links."""


def linked(
    nodes: Sequence[BoundSubtask],
    subtasks: Mapping[str, Subtask],
    categories: Mapping[str, ResourceCategory],
    *,
    most: int,
    seed: int = 0,
    worlds: Mapping[str, World] | None = None,
) -> list[BoundSubtask]:
    """Up to `most` further instances per world: `subtasks` bound to what `nodes` and these instances make.

    A subtask takes each product of others once. Where there are more, they are drawn, in every world others.
    The `worlds` say what is the name of a thing, and how a sentence names it.
    """
    apart: defaultdict[str, list[BoundSubtask]] = defaultdict(list)
    for node in nodes:
        apart[node.world].append(node)
    found: list[BoundSubtask] = []
    for world, there in sorted(apart.items()):
        linking = _Linking(
            there, subtasks, categories, random.Random(f"{seed} {world}"), (worlds or {}).get(world)
        )
        for _ in range(_ROUNDS):
            found += linking.more(most // _ROUNDS)
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
                self._examples[_kind(node.inputs[0])].setdefault(node.subtask_id, []).append(node)
        self._categories = categories
        self._generator = generator
        self._taken = {(node.subtask_id, item) for node in nodes for item in node.inputs}
        self._latest = nodes
        self._places: dict[Resource, float] = {}

    def more(self, most: int) -> list[BoundSubtask]:
        found = []
        products = [
            (node, item)
            for node in self._latest
            for item in node.outputs
            if item.slot is None and item.value and item not in node.inputs
        ]
        self._generator.shuffle(products)
        for maker, product in products:
            for name, examples in self._examples.get(_kind(product), {}).items():
                if name != maker.subtask_id and (name, product) not in self._taken:
                    instance = self._instance(self._subtasks[name], examples, product)
                    if instance is not None:
                        self._taken.add((name, product))
                        found.append(instance)
        self._generator.shuffle(found)
        self._latest = found[:most]
        return found[:most]

    def _place(self, example: BoundSubtask) -> float:
        """What comes first of where products can be put: in one world the same for all, so that they meet."""
        beside = [item for item in example.inputs[1:] if item.slot is None]
        return min((self._places.setdefault(item, self._generator.random()) for item in beside), default=0)

    def _instance(
        self, subtask: Subtask, examples: Sequence[BoundSubtask], product: Resource
    ) -> BoundSubtask | None:
        """An instance of `subtask` that takes `product` as one of the `examples` takes its first input, or
        None if none can."""
        shuffled = self._generator.sample(examples, len(examples))
        for example in sorted(shuffled, key=self._place):
            values = _renamed(subtask, example, subtask.inputs[0].parameter, product.value, self._world)
            if values is not None:
                return subtask.bind(values, self._categories, example.world)
        return None


def _kind(resource: Resource) -> Resource:
    return resource.model_copy(update={"value": ""})


def _renamed(
    subtask: Subtask, example: BoundSubtask, parameter: str, value: str, world: World | None
) -> dict[str, str] | None:
    """The parameters of `example` with a new value, and with what is named after the old one named after it.

    None where a product has a name of which it is not known why, or that of what is read. A record has such a
    name: it may be one that was there before.
    """
    before = example.parameters[parameter]
    values = {**example.parameters, parameter: value}
    for declared, made in zip(subtask.outputs, example.outputs, strict=True):
        name = declared.parameter
        if not name or name == parameter or example.parameters[name] == before:
            continue
        given = example.parameters[name]
        is_title = made.kind is not ResourceKind.FILE and " " in given
        values[name] = given if is_title else _named_after(given, before, value)
        kept = values[name] == given or made.kind is not ResourceKind.FILE
        if kept and name not in subtask.fresh:
            return None
        if values[name] == given and not (made.kind is ResourceKind.FILE and _is_of_several(example)):
            values[name] = _called_like(given, value, world)
        if values[name] == value:
            return None
    return values


def _is_of_several(node: BoundSubtask) -> bool:
    """Whether several files go into what is made, so that it is not named after one of them."""
    files = [item.value for item in node.inputs if item.kind is ResourceKind.FILE and not item.is_transient]
    return sum(bool(PurePosixPath(value).suffix) for value in files) > 1


def _named_after(text: str, before: str, after: str) -> str:
    """`text` with the name of `before` in it exchanged for that of `after`, without their endings.

    >>> _named_after("Downloads/sales-export.csv", "Documents/sales.gnumeric", "Documents/stock.gnumeric")
    'Downloads/stock-export.csv'
    """
    old, new = PurePosixPath(before).stem, PurePosixPath(after).stem
    return re.sub(rf"(?<![^\W_]){re.escape(old)}(?![^\W_])", lambda _: new, text) if old else text


def _called_like(given: str, product: str, world: World | None = None) -> str:
    """A name of the form of `given` for what is made of `product`: a file's says of what, a title is how a
    sentence names it. What is the name of another thing of the `world` gives the form alone.

    >>> _called_like("SummerBreads", "Documents/kiosk_list.txt"), _called_like("Breads to try", "KioskList")
    ('KioskList', 'Kiosk list')
    >>> _called_like("Documents/number.txt", "Downloads/stock-export.csv"), _called_like("men", "Stock list")
    ('Documents/stock_export_number.txt', 'stock_list')
    """
    path, words = PurePosixPath(given), _words(PurePosixPath(product).stem)
    if path.suffix:
        own = [] if world and (world.occasions_of(given) or world.use(given)) else _words(path.stem)
        return str(path.with_name("_".join(dict.fromkeys([*words, *own])) + path.suffix))
    if given[:1].isupper() and " " in given:
        title = (_phrase(product, world) if world else "") or " ".join(words)
        return title[:1].upper() + title[1:]
    if given[:1].isupper():
        return "".join(word.capitalize() for word in words)
    return "_".join(words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.split(r"[\W_]+|(?<=[^\W\dA-Z_])(?=[A-Z])", name) if word]


def _phrase(product: str, world: World) -> str:
    """How a sentence names a product, or the same thing in another form."""
    others = (phrase for name, phrase in world.phrases.items() if stem_of(name) == stem_of(product))
    return world.phrase(product) or next(others, "")
