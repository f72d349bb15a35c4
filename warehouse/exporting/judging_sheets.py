"""Sheets for judging tasks once, at the end of the work, by files alone.

Checks of the screen and of the clipboard are removed from functions. A subtask without other checks is judged
through those that use its outputs; a task is refused if no file check proves its end products.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, TypeVar

import networkx

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceKind
from taskloom.taskgraph.records.evaluation_function import CheckFacts, JudgedSubtask, JudgingSheet
from taskloom.taskgraph.records.evidence import is_open_document
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import InexpressibleError
from taskloom.warehouse.exporting.exporting import ExportSource, Refused

T = TypeVar("T")
_CLIPBOARD: Final = "clipboard"


def sheet_of(task: Task, source: ExportSource) -> JudgingSheet:
    """The sheet that judges a task; an `InexpressibleError` says why there is none."""
    _refuse_unstartable(task, source)
    graph = task.graph.to_networkx()
    nodes = {node.instance_id: node for node in task.graph.nodes}
    judged: list[JudgedSubtask] = []
    through: list[str] = []
    for name in networkx.lexicographical_topological_sort(graph):
        node = nodes[name]
        function = source.functions.get(node.subtask_id)
        if function is None:
            raise InexpressibleError(f"{node.subtask_id} has no evaluation function")
        earlier = [nodes[other] for other in networkx.ancestors(graph, name)]
        _refuse_volatile(node, [item for item in nodes.values() if item not in (node, *earlier)])
        known_sources = _known_sources(name, graph, nodes, source)
        text, left_out = without_momentary_checks(function.source, node, source.checks, known_sources)
        if not text:
            if not graph.out_degree(name):
                raise InexpressibleError(f"no file shows whether {node.subtask_id} is done")
            through.append(name)
            continue
        files = {item.value for other in earlier for item in other.outputs if item.kind is ResourceKind.FILE}
        judged.append(
            JudgedSubtask(
                instance_id=name,
                instruction=node.instruction,
                source=text,
                parameters=dict(node.parameters),
                made_before=tuple(sorted(files)),
                as_left=_files_as_left(text, node, earlier, _CLIPBOARD in known_sources, source.checks),
                given_from=known_sources,
                left_out=left_out,
            )
        )
    functions = [(source.functions[node.subtask_id], node.parameters) for node in nodes.values()]
    allowed = [(item.allowed, dict(values)) for item, values in functions if item.allowed is not None]
    return JudgingSheet(
        task_id=task.task_id,
        instruction=task.instruction,
        subtasks=tuple(judged),
        through_others=tuple(through),
        edges=tuple(task.graph.pairs),
        allowed=tuple(allowed) if len(allowed) == len(nodes) else None,
        noise=tuple(place for node in nodes.values() for place in source.noise.get(node.application, ())),
    )


def expressible_tasks(
    source: ExportSource, express: Callable[[Task], T], refused: list[Refused]
) -> Iterator[tuple[Task, T]]:
    """The tasks with what `express` returns for each; those it refuses go to `refused`, with the reason."""
    for task in source.tasks():
        try:
            expression = express(task)
        except InexpressibleError as error:
            refused.append(Refused(item_id=task.task_id, reason=str(error)))
        else:
            yield task, expression


def applications_of(task: Task, source: ExportSource) -> list[Application]:
    """The applications of a task in its world; `InexpressibleError` if one is not stored or cannot be
    started."""
    names = sorted({node.application for node in task.graph.nodes})
    missing = next((name for name in names if name not in source.applications), None)
    if missing is not None:
        raise InexpressibleError(f"the application {missing} is not stored")
    _refuse_unstartable(task, source)
    applications = source.applications_in(task.world)
    if applications is None:
        raise InexpressibleError(
            f"its world {task.world} is of a kind that neither the dataset nor this taskloom knows"
        )
    return [applications[name] for name in names]


def _refuse_unstartable(task: Task, source: ExportSource) -> None:
    if task.simulated:
        raise InexpressibleError("it runs on simulated applications")
    for name in sorted({node.application for node in task.graph.nodes}):
        if name in source.applications and source.applications[name].launch.address:
            raise InexpressibleError(f"{name} is not started by taskloom, so no other machine can start it")


def _refuse_volatile(node: BoundSubtask, others: list[BoundSubtask]) -> None:
    for other in others:
        left_behind = {*node.outputs, *node.consumed}
        if {*other.consumed} & {*node.outputs} or {*other.outputs} & left_behind:
            raise InexpressibleError(
                f"{node.subtask_id} is volatile: {other.subtask_id} changes what it leaves behind, and the"
                " task is judged only at the end"
            )


def without_momentary_checks(
    source: str, node: BoundSubtask, checks: Mapping[str, CheckFacts], known_sources: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """The function without checks of momentary state, and the removed checks; no text if nothing is left,
    `InexpressibleError` if it judges the route or cannot be rewritten. Checks may read `known_sources`."""
    try:
        module = ast.parse(source)
    except SyntaxError:
        raise InexpressibleError(f"the evaluation function of {node.subtask_id} is not Python") from None

    def is_removed(call: ast.Call) -> bool:
        facts = checks.get(call.func.id) if isinstance(call.func, ast.Name) else None
        copied = any(
            item.arg == "target" and isinstance(item.value, ast.Constant) and item.value.value == _CLIPBOARD
            for item in call.keywords
        )
        return facts is not None and (facts.momentary or copied or _reads_open_document(call, known_sources))

    calls = list(_checks_in(module))
    for name, _ in calls:
        if name not in checks or checks[name].reads == "inputs":
            raise InexpressibleError(
                f"the evaluation function of {node.subtask_id} calls {name}, which is about more than files"
            )
    if all(is_removed(call) for _, call in calls):
        return "", ()
    removed = tuple(sorted({name for name, call in calls if is_removed(call)}))
    if not removed:
        return source, ()
    changed = ast.fix_missing_locations(WithoutChecks(is_removed).visit(module))
    if any(is_removed(call) for _, call in _checks_in(changed)):
        raise InexpressibleError(
            f"the evaluation function of {node.subtask_id} mixes files with what the screen shows"
        )
    return ast.unparse(changed) + "\n", removed


def _files_as_left(
    source: str,
    node: BoundSubtask,
    earlier: list[BoundSubtask],
    clipboard: bool,
    checks: Mapping[str, CheckFacts],
) -> tuple[str, ...]:
    """Application files that are compared with their state between subtasks; `InexpressibleError` unless that
    state lasts until the end."""
    outputs = {item.value for other in earlier for item in other.outputs if item.kind is ResourceKind.RECORD}
    compared: set[str] = set()
    changed: set[str] = set()
    for name, call in _checks_in(ast.parse(source)):
        arguments = (*call.args, *(keyword.value for keyword in call.keywords))
        texts = [_text_of(item, node.parameters) for item in arguments]
        at_start = any(keyword.arg == "at_start" for keyword in call.keywords)
        takes_over = any(keyword.arg == "source" for keyword in call.keywords)
        if not clipboard and (checks[name].reads == "clipboard" or _CLIPBOARD in texts):
            raise InexpressibleError(
                f"the evaluation function of {node.subtask_id} compares with the clipboard"
            )
        if checks[name].reads == "clipboard" or not (checks[name].of_source or at_start):
            continue
        if not (takes_over or at_start):
            changed.add(texts[0] or "")
        values = {_text_of(item, node.parameters) for item in ast.walk(call) if isinstance(item, ast.expr)}
        unknown = bool(earlier) and texts[:1] == [None] and not any(_checks_in(arguments[0]))
        if unknown or outputs & (values - {""}):
            compared.add(texts[0] or "")
    if "" in compared or compared & changed:
        raise InexpressibleError(
            f"the evaluation function of {node.subtask_id} compares with a state between the subtasks"
        )
    return tuple(sorted(compared))


def _known_sources(
    name: str, graph: networkx.DiGraph[str], nodes: Mapping[str, BoundSubtask], source: ExportSource
) -> dict[str, str]:
    """The files whose text is in the clipboard and the open documents that a node receives, if known."""
    sources: dict[str, str] = {}
    for producer in graph.predecessors(name):
        node = nodes[producer]
        function = source.functions.get(node.subtask_id)
        for _, call in _checks_in(ast.parse(function.source if function is not None else "")):
            keywords = {keyword.arg: _text_of(keyword.value, node.parameters) for keyword in call.keywords}
            target, origin = keywords.get("target") or "", keywords.get("source")
            if origin and (target == _CLIPBOARD or is_open_document(target)):
                sources.setdefault(target, origin)
    return sources


def _reads_open_document(call: ast.Call, known_sources: Collection[str]) -> bool:
    """Whether a check reads a document open in an editor, other than as one of the `known_sources`."""
    sources = [keyword.value for keyword in call.keywords if keyword.arg == "source"]
    return any(
        isinstance(item, ast.Constant)
        and isinstance(item.value, str)
        and is_open_document(item.value)
        and not (item in sources and item.value in known_sources)
        for item in ast.walk(call)
    )


def _checks_in(module: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for item in ast.walk(module):
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
            name = item.func.id
            if name.startswith(("check_", "get_", "clipboard_")):
                yield name, item


def _text_of(node: ast.expr, parameters: Mapping[str, str]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return parameters.get(node.id)
    if isinstance(node, ast.JoinedStr):
        parts = [
            _text_of(part.value if isinstance(part, ast.FormattedValue) else part, parameters)
            for part in node.values
        ]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text_of(node.left, parameters), _text_of(node.right, parameters)
        return None if left is None or right is None else left + right
    return None


class WithoutChecks(ast.NodeTransformer):
    """Replaces calls to some checks with a constant that decides nothing.

    This covers the positions where a condition must hold: the first part of a pair in a list of conditions, a
    guard that ends in failure, the returned value. Elsewhere, and inside an `or` that must hold, the calls
    stay, for the caller to refuse.
    """

    def __init__(self, is_removed: Callable[[ast.Call], bool]) -> None:
        self._is_removed = is_removed

    def visit_List(self, node: ast.List) -> ast.expr:
        """Conditions in a list, each alone or with its message."""
        for place, item in enumerate(node.elts):
            if isinstance(item, ast.Tuple) and item.elts:
                item.elts[0] = self._neutralize(item.elts[0], True)
            else:
                node.elts[place] = self._neutralize(item, True)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """A guard; its condition must not hold."""
        if not _fails(node.body) or node.orelse:
            return self.generic_visit(node)
        node.test = self._neutralize(node.test, False)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """The result: its first field, or all of it."""
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "EvalResult":
            if value.args:
                value.args[0] = self._neutralize(value.args[0], True)
            for keyword in value.keywords:
                if keyword.arg == "success":
                    keyword.value = self._neutralize(keyword.value, True)
        elif value is not None:
            node.value = self._neutralize(value, True)
        return node

    def _neutralize(self, node: ast.expr, neutral: bool) -> ast.expr:
        if isinstance(node, ast.Call):
            return ast.Constant(neutral) if self._is_removed(node) else node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._neutralize(node.operand, not neutral)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And if neutral else ast.Or):
            node.values = [self._neutralize(item, neutral) for item in node.values]
        return node


def _fails(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    value = last.value
    if isinstance(value, ast.Call):
        first = value.args[0] if value.args else None
        value = first or next((item.value for item in value.keywords if item.arg == "success"), value)
    return isinstance(value, ast.Constant) and value.value is False
