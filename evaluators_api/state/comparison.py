"""What differs between two trees; linear in their size. Fields and records are matched by their names, other
parts by their content in order; what is left between two matches is paired as long as it is alike, so a line
that changed is one change."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from taskloom.evaluators_api.state.nodes import Naming, Node
from taskloom.resources.noise import EffectKind

MOST_CHANGES = 2_000
"""Changes of one container that are told apart; further ones are left out."""
_LISTED = ("record", "position")
_ALIKE = 0.5
_LONGEST_COMPARED = 400


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two trees."""

    address: tuple[str, ...]
    """Where, in the second tree; for what was removed, in the first."""
    namings: tuple[Naming, ...]
    """What each segment of the address is."""
    kind: EffectKind
    before: Node | None
    after: Node | None
    parents: tuple[Node, Node] | None = None
    """The groups that hold it, in both trees; None for what lies inside of something added or removed."""
    around: tuple[tuple[Node, ...], ...] = ()
    """The records and parts of lists it lies in that were there before, each as it was and, if it still is
    there, as it is."""


def compare(before: Node, after: Node) -> tuple[Change, ...]:
    """All differences, outermost first; what was added as a group is followed by all that is in it."""
    whole = Change((), (), "changed", before, after)
    return tuple(islice(_differences(whole, before, after), MOST_CHANGES))


def _differences(here: Change, before: Node, after: Node) -> Iterator[Change]:
    """What differs between two groups, which are `here`."""

    def change(kind: EffectKind, node: Node, old: Node | None, new: Node | None, *listed: Node) -> Change:
        address, namings = (*here.address, node.name), (*here.namings, node.naming)
        around = (*here.around, listed) if listed and listed[0].naming in _LISTED else here.around
        return Change(address, namings, kind, old, new, (before, after), around)

    pairs, gone, new = match_parts(before.children, after.children)
    for node in gone:
        yield change("removed", node, node, None, node)
    for old, fresh in pairs:
        if old.digest != fresh.digest or old.value != fresh.value:
            this = change("changed", fresh, old, fresh, old, fresh)
            groups = old.value is None and fresh.value is None and (old.children or fresh.children)
            yield from (list(_differences(this, old, fresh)) if groups else []) or [this]
    for node in new:
        yield from _with_parts(change("added", node, None, node), node)


def _with_parts(addition: Change, node: Node) -> Iterator[Change]:
    yield addition
    for child in node.children:
        address, namings = (*addition.address, child.name), (*addition.namings, child.naming)
        inner = replace(addition, address=address, namings=namings, after=child, parents=None)
        yield from _with_parts(inner, child)


def match_parts(
    before: Sequence[Node], after: Sequence[Node]
) -> tuple[list[tuple[Node, Node]], list[Node], list[Node]]:
    """Parts that belong together, parts that are gone, parts that are new; each in the order of the text. A
    field, such as a table, is known by its name alone, whatever it holds."""
    named = {node.name: node for node in before if node.naming != "position"}
    partner: dict[int, Node] = {}
    taken: set[int] = set()
    for node in after:
        old = named.get(node.name) if node.naming != "position" else None
        if old is not None and old.naming == node.naming:
            partner[id(node)] = old
            taken.add(id(old))
    rest_before = [node for node in before if id(node) not in taken and node.naming != "field"]
    rest_after = [node for node in after if id(node) not in partner and node.naming != "field"]
    _match_content(rest_before, rest_after, partner, taken)
    pairs = [(partner[id(node)], node) for node in after if id(node) in partner]
    return (
        pairs,
        [node for node in before if id(node) not in taken],
        [node for node in after if id(node) not in partner],
    )


def _match_content(
    before: Sequence[Node], after: Sequence[Node], partner: dict[int, Node], taken: set[int]
) -> None:
    waiting: dict[int, deque[Node]] = {}
    for node in before:
        waiting.setdefault(node.digest, deque()).append(node)
    for node in after:
        if waiting.get(node.digest):
            partner[id(node)] = old = waiting[node.digest].popleft()
            taken.add(id(old))
    gaps: dict[int, deque[Node]] = {}
    anchor = 0
    for old in before:
        if id(old) in taken:
            anchor = id(old)
        else:
            gaps.setdefault(anchor, deque()).append(old)
    anchor = 0
    for node in after:
        if id(node) in partner:
            anchor = id(partner[id(node)])
            continue
        left = gaps.get(anchor)
        if left and alike(left[0], node):
            partner[id(node)] = old = left.popleft()
            taken.add(id(old))


def alike(old: Node, new: Node) -> bool:
    """Whether `new` can be what became of `old`: the same kind of group, a text that shares half of its words
    or ends, one word in the place of another. Records that one field tells apart are not."""
    called_by = (
        next((child.name for child in node.children if child.value == node.name), "") for node in (old, new)
    )
    if old.naming == new.naming == "record" and len(set(called_by)) == 1:
        return False
    if old.value is None or new.value is None:
        one, other = ({(child.name, child.digest) for child in node.children} for node in (old, new))
        same_names = {name for name, _ in one} == {name for name, _ in other}
        return old.value is new.value and same_names and not one.isdisjoint(other)
    if len(old.value.split()) == len(new.value.split()) == 1:
        return True
    return _similar(old.value[:_LONGEST_COMPARED], new.value[:_LONGEST_COMPARED])


def _similar(first: str, second: str) -> bool:
    """Whether two texts share most of their ends or words. Linear, unlike an edit distance."""
    if not first.strip() or not second.strip():
        return first.strip() == second.strip()
    longest = max(len(first), len(second))
    ends = _shared(first, second) + _shared(first[::-1], second[::-1])
    if ends >= _ALIKE * longest:
        return True
    words, others = Counter(first.split()), Counter(second.split())
    return (words & others).total() >= _ALIKE * max(words.total(), others.total())


def _shared(first: str, second: str) -> int:
    pairs = zip(first, second, strict=False)
    return next(
        (index for index, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second))
    )
