"""The differences between two trees, in linear time. Fields and records are matched by name, other parts by
content in order; parts left between two matches are paired if alike, so a changed line is one change."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from taskloom.evaluators_api.state.nodes import Naming, Node
from taskloom.resources.noise import EffectKind

MOST_CHANGES = 2_000
"""Maximum number of changes in one container; further ones are left out."""
_LISTED = ("record", "position")
_ALIKE = 0.5
_LONGEST_COMPARED = 400


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two trees."""

    address: tuple[str, ...]
    """Address in the second tree; for something removed, in the first."""
    namings: tuple[Naming, ...]
    """What each segment of the address is."""
    kind: EffectKind
    before: Node | None
    after: Node | None
    parents: tuple[Node, Node] | None = None
    """The groups that contain it in both trees; None inside something added or removed."""
    around: tuple[tuple[Node, ...], ...] = ()
    """The records and list items around it that existed before: each as it was and, if it remains, as it is
    now."""


def compare(before: Node, after: Node) -> tuple[Change, ...]:
    """All differences, outermost first; an added group is followed by everything in it."""
    whole = Change((), (), "changed", before, after)
    return tuple(islice(_differences(whole, before, after), MOST_CHANGES))


def _differences(here: Change, before: Node, after: Node) -> Iterator[Change]:
    """The differences between two groups at the place of `here`."""

    def change(kind: EffectKind, node: Node, old: Node | None, new: Node | None, *record: Node) -> Change:
        address, namings = (*here.address, node.name), (*here.namings, node.naming)
        around = (*here.around, record) if record and record[0].naming in _LISTED else here.around
        return Change(address, namings, kind, old, new, (before, after), around)

    pairs, removed, added = match_parts(before.children, after.children)
    for node in removed:
        yield change("removed", node, node, None, node)
    for old, current in pairs:
        if old.digest != current.digest or old.value != current.value:
            whole = change("changed", current, old, current, old, current)
            are_groups = old.value is None and current.value is None and (old.children or current.children)
            yield from (list(_differences(whole, old, current)) if are_groups else []) or [whole]
    for node in added:
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
    """Matching pairs, removed parts and added parts, each in the order of the text. A field, such as a table,
    is matched by its name alone."""
    by_name = {node.name: node for node in before if node.naming != "position"}
    partners: dict[int, Node] = {}
    matched: set[int] = set()
    for node in after:
        old = by_name.get(node.name) if node.naming != "position" else None
        if old is not None and old.naming == node.naming:
            partners[id(node)] = old
            matched.add(id(old))
    left_before = [node for node in before if id(node) not in matched and node.naming != "field"]
    left_after = [node for node in after if id(node) not in partners and node.naming != "field"]
    _match_by_content(left_before, left_after, partners, matched)
    pairs = [(partners[id(node)], node) for node in after if id(node) in partners]
    return (
        pairs,
        [node for node in before if id(node) not in matched],
        [node for node in after if id(node) not in partners],
    )


def _match_by_content(
    before: Sequence[Node], after: Sequence[Node], partners: dict[int, Node], matched: set[int]
) -> None:
    by_digest: dict[int, deque[Node]] = {}
    for node in before:
        by_digest.setdefault(node.digest, deque()).append(node)
    for node in after:
        if by_digest.get(node.digest):
            partners[id(node)] = old = by_digest[node.digest].popleft()
            matched.add(id(old))
    gaps: dict[int, deque[Node]] = {}
    anchor = 0
    for old in before:
        if id(old) in matched:
            anchor = id(old)
        else:
            gaps.setdefault(anchor, deque()).append(old)
    anchor = 0
    for node in after:
        if id(node) in partners:
            anchor = id(partners[id(node)])
            continue
        unmatched = gaps.get(anchor)
        if unmatched and alike(unmatched[0], node):
            partners[id(node)] = old = unmatched.popleft()
            matched.add(id(old))


def alike(old: Node, new: Node) -> bool:
    """Whether `new` may be `old` after a change: a group with the same fields, one of them equal; a text that
    shares half of its words or ends; or one word replacing another. Records with ids in one field differ."""
    id_fields = (
        next((child.name for child in node.children if child.value == node.name), "") for node in (old, new)
    )
    if old.naming == new.naming == "record" and len(set(id_fields)) == 1:
        return False
    if old.value is None or new.value is None:
        one, other = ({(child.name, child.digest) for child in node.children} for node in (old, new))
        same_names = {name for name, _ in one} == {name for name, _ in other}
        return old.value is new.value and same_names and not one.isdisjoint(other)
    if len(old.value.split()) == len(new.value.split()) == 1:
        return True
    return _is_similar(old.value[:_LONGEST_COMPARED], new.value[:_LONGEST_COMPARED])


def _is_similar(first: str, second: str) -> bool:
    """Whether two texts share most of their ends or words. Linear, unlike an edit distance."""
    if not first.strip() or not second.strip():
        return first.strip() == second.strip()
    longest = max(len(first), len(second))
    ends = _common_prefix_length(first, second) + _common_prefix_length(first[::-1], second[::-1])
    if ends >= _ALIKE * longest:
        return True
    words, others = Counter(first.split()), Counter(second.split())
    return (words & others).total() >= _ALIKE * max(words.total(), others.total())


def _common_prefix_length(first: str, second: str) -> int:
    pairs = zip(first, second, strict=False)
    return next(
        (index for index, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second))
    )
