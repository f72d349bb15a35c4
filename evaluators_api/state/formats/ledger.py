"""Plain-text ledgers (Beancount): dated directives as records, with payee, narration and postings."""

import re
from decimal import Decimal

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.nodes import Node, Span, group, leaf, trimmed, uniquely_named

SUFFIXES: frozenset[str] = frozenset([".beancount"])
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_DIRECTIVE = re.compile(
    r"(\d{4}-\d\d-\d\d)[ \t]+(\S+)[ \t]*([^\n]*)(?:\n|\Z)((?:[ \t](?=[^\n]*\S)[^\n]*(?:\n|\Z))*)"
)
"""Date, type, the rest of the line, and the indented lines after it."""
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*')
_POSTING = re.compile(r"[ \t]+(?:[!*][ \t]+)?([A-Z][\w-]*:[\w:-]+)(?=[ \t;]|$)")
_NUMBER = re.compile(r"[-+]?\d{1,3}(?:,?\d{3})*(?:\.\d+)?|[-+]?\d+(?:\.\d+)?")
_META = re.compile(r"[ \t]+([a-z][\w-]*):")


def parse(text: str) -> Node:
    """Directives by position: date, type, payee, narration or rest, postings, metadata; others as lines."""
    parts: list[Node] = []
    position = 0
    while position < len(text):
        directive = _DIRECTIVE.match(text, position)
        match = directive or _LINE.match(text, position)
        end = match.end() if match is not None else len(text)
        line = text[position:end].rstrip("\r\n")
        if directive is not None:
            parts.append(_directive(text, directive, str(len(parts))))
        elif line.strip():
            span = (position, position + len(line))
            parts.append(leaf(str(len(parts)), "position", span, line, (position, end)))
        position = end
    if not any(part.children for part in parts):
        raise StateUnreadableError("no directives")
    return group("", "field", (0, len(text)), tuple(parts))


def without_layout(tree: Node) -> Node:
    """Amounts with one space in them, and with the omitted amount that balances a transaction."""
    return _with_children(tree, tuple(_balanced(part) for part in tree.children))


def _balanced(directive: Node) -> Node:
    postings = directive.at(("postings",))
    if postings is None:
        return directive
    amounts = [_amount(posting) for posting in postings.children]
    known = [amount for amount in amounts if isinstance(amount, tuple)]
    units = {unit for _, unit in known}
    missing: str | None = None
    if amounts.count(None) == 1 and len(known) == len(amounts) - 1 and len(units) == 1:
        missing = _format_amount(-sum((number for number, _ in known), Decimal(0)), units.pop())
    complete = []
    for posting, amount in zip(postings.children, amounts, strict=True):
        value = (
            _format_amount(*amount) if isinstance(amount, tuple) else missing if amount is None else amount
        )
        others = [field for field in posting.children if field.name != "amount"]
        amount_fields = [] if value is None else [leaf("amount", "field", posting.raw, value)]
        complete.append(_with_children(posting, (*others, *amount_fields)))
    new_postings = _with_children(postings, tuple(complete))
    fields = (new_postings if field is postings else field for field in directive.children)
    return _with_children(directive, tuple(fields))


def _with_children(node: Node, children: tuple[Node, ...]) -> Node:
    return node if node.value is not None else group(node.name, node.naming, node.raw, children, node.extent)


def _amount(posting: Node) -> tuple[Decimal, str] | str | None:
    """Number and unit of a posting, or its amount as text if it has another form; None without an amount."""
    field = posting.at(("amount",))
    if field is None:
        return None
    words = (field.value or "").split()
    is_simple = len(words) == 2 and _NUMBER.fullmatch(words[0])
    return (Decimal(words[0].replace(",", "")), words[1]) if is_simple else " ".join(words)


def _format_amount(number: Decimal, unit: str) -> str:
    return f"{format(number.normalize(), 'f')} {unit}"


def _directive(text: str, match: re.Match[str], name: str) -> Node:
    fields = [
        leaf(key, "field", match.span(number), match[number]) for number, key in ((1, "date"), (2, "type"))
    ]
    texts: list[tuple[str, Span]] = []
    position, line_end = match.span(3)
    while (quoted := _QUOTED.match(text, position, line_end)) is not None:
        texts.append((_unescaped(quoted[1]), (quoted.start(), quoted.end(1) + 1)))
        position = quoted.end()
    names = ("narration",) if len(texts) == 1 else ("payee", "narration")
    fields += [leaf(key, "field", span, value) for key, (value, span) in zip(names, texts, strict=False)]
    rest = trimmed(text, position, line_end)
    if rest[0] < rest[1]:
        fields.append(leaf("rest", "field", rest, text[rest[0] : rest[1]]))
    postings: list[Node] = []
    for line in _LINE.finditer(text, *match.span(4)):
        if line.group():
            _posting_or_meta(
                text, (line.start(), line.start() + len(line.group().rstrip("\n"))), postings, fields
            )
    if postings:
        fields.append(group("postings", "field", (postings[0].raw[0], postings[-1].raw[1]), tuple(postings)))
    written = (match.start(), match.start() + len(match.group().rstrip("\r\n")))
    return group(name, "position", written, uniquely_named(fields), match.span())


def _posting_or_meta(text: str, span: Span, postings: list[Node], fields: list[Node]) -> None:
    line = text[span[0] : span[1]]
    extent = (span[0], min(span[1] + 1, len(text)))
    posting, meta = _POSTING.match(line), _META.match(line)
    if posting is not None:
        account = (span[0] + posting.start(1), span[0] + posting.end(1))
        parts = [leaf("account", "field", account, posting.group(1))]
        value = trimmed(text, account[1], span[0] + len(line.partition(";")[0]))
        if value[0] < value[1]:
            parts.append(leaf("amount", "field", value, text[value[0] : value[1]]))
        written = (parts[0].raw[0], parts[-1].raw[1])
        postings.append(group(str(len(postings)), "position", written, tuple(parts), extent))
    elif meta is not None:
        value = trimmed(text, span[0] + meta.end(), span[1])
        quoted = _QUOTED.fullmatch(text, *value)
        shown = text[value[0] : value[1]] if quoted is None else _unescaped(quoted.group(1))
        fields.append(leaf(meta.group(1), "field", value, shown, extent, span))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
