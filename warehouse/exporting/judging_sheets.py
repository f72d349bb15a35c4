"""Which tasks can be judged by files alone, once, at the end of the work; and the sheets with which they are.

Checks of the screen and of the clipboard are taken out of functions. A subtask of which nothing is left is
judged through those that use what it makes; a task whose end products no check of files proves is refused.
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
    """How a task is judged; an `InexpressibleError` says why it cannot be."""
    _refuse_what_is_elsewhere(task, source)
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
        _refuse_what_is_undone(node, [item for item in nodes.values() if item not in (node, *earlier)])
        given = _given(name, graph, nodes, source)
        text, left_out = rewritten(function.source, node, source.checks, given)
        if not text:
            if not graph.out_degree(name):
                raise InexpressibleError(f"no file shows whether {node.subtask_id} is done")
            through.append(name)
            continue
        made = {item.value for other in earlier for item in other.outputs if item.kind is ResourceKind.FILE}
        judged.append(
            JudgedSubtask(
                instance_id=name,
                instruction=node.instruction,
                source=text,
                parameters=dict(node.parameters),
                made_before=tuple(sorted(made)),
                as_left=_taken_over(text, node, earlier, _CLIPBOARD in given, source.checks),
                given_from=given,
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


def expressed(
    source: ExportSource, say: Callable[[Task], T], refused: list[Refused]
) -> Iterator[tuple[Task, T]]:
    """The tasks with what `say` makes of each; those it cannot say go to `refused`, with the reason."""
    for task in source.tasks():
        try:
            said = say(task)
        except InexpressibleError as error:
            refused.append(Refused(item_id=task.task_id, reason=str(error)))
        else:
            yield task, said


def applications_of(task: Task, source: ExportSource) -> list[Application]:
    """The applications of a task in its world; `InexpressibleError` where one is not stored or cannot be
    started."""
    names = sorted({node.application for node in task.graph.nodes})
    missing = next((name for name in names if name not in source.applications), None)
    if missing is not None:
        raise InexpressibleError(f"the application {missing} is not stored")
    _refuse_what_is_elsewhere(task, source)
    applications = source.applications_in(task.world)
    if applications is None:
        raise InexpressibleError(
            f"its world {task.world} is of a kind that neither the dataset nor this taskloom knows"
        )
    return [applications[name] for name in names]


def _refuse_what_is_elsewhere(task: Task, source: ExportSource) -> None:
    if task.simulated:
        raise InexpressibleError("it runs on simulated applications")
    for name in sorted({node.application for node in task.graph.nodes}):
        if name in source.applications and source.applications[name].launch.address:
            raise InexpressibleError(f"{name} is not started by taskloom, so no other machine can start it")


def _refuse_what_is_undone(node: BoundSubtask, others: list[BoundSubtask]) -> None:
    for other in others:
        left = {*node.outputs, *node.consumed}
        if {*other.consumed} & {*node.outputs} or {*other.outputs} & left:
            raise InexpressibleError(
                f"{node.subtask_id} is volatile: {other.subtask_id} changes what it leaves behind, and the"
                " task is judged only at the end"
            )


def rewritten(
    source: str, node: BoundSubtask, checks: Mapping[str, CheckFacts], given: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """The function as it can be asked at the end of the task, and the checks taken out; no text where nothing
    is left, `InexpressibleError` where it judges the route or cannot be taken apart. What is `given` is
    known."""
    try:
        module = ast.parse(source)
    except SyntaxError:
        raise InexpressibleError(f"the evaluation function of {node.subtask_id} is not Python") from None

    def is_gone(call: ast.Call) -> bool:
        facts = checks.get(call.func.id) if isinstance(call.func, ast.Name) else None
        copied_out = any(
            word.arg == "target" and isinstance(word.value, ast.Constant) and word.value.value == _CLIPBOARD
            for word in call.keywords
        )
        return facts is not None and (facts.momentary or copied_out or _reads_what_is_open(call, given))

    calls = list(_checks_in(module))
    for name, _ in calls:
        if name not in checks or checks[name].reads == "inputs":
            raise InexpressibleError(
                f"the evaluation function of {node.subtask_id} asks {name}, which is about more than files"
            )
    if all(is_gone(call) for _, call in calls):
        return "", ()
    taken = tuple(sorted({name for name, call in calls if is_gone(call)}))
    if not taken:
        return source, ()
    changed = ast.fix_missing_locations(WithoutChecks(is_gone).visit(module))
    if any(is_gone(call) for _, call in _checks_in(changed)):
        raise InexpressibleError(
            f"the evaluation function of {node.subtask_id} mixes files with what the screen shows"
        )
    return ast.unparse(changed) + "\n", taken


def _taken_over(
    source: str,
    node: BoundSubtask,
    earlier: list[BoundSubtask],
    clipboard: bool,
    checks: Mapping[str, CheckFacts],
) -> tuple[str, ...]:
    """Files of applications whose state between the subtasks is compared with, and is there at the end;
    `InexpressibleError` where it is not kept."""
    made = {item.value for other in earlier for item in other.outputs if item.kind is ResourceKind.RECORD}
    read: set[str] = set()
    changed: set[str] = set()
    for name, call in _checks_in(ast.parse(source)):
        words = (*call.args, *(word.value for word in call.keywords))
        given = [_text_of(item, node.parameters) for item in words]
        at_start = any(word.arg == "at_start" for word in call.keywords)
        takes_over = any(word.arg == "source" for word in call.keywords)
        if not clipboard and (checks[name].reads == "clipboard" or _CLIPBOARD in given):
            raise InexpressibleError(
                f"the evaluation function of {node.subtask_id} compares with the clipboard"
            )
        if checks[name].reads == "clipboard" or not (checks[name].of_source or at_start):
            continue
        if not (takes_over or at_start):
            changed.add(given[0] or "")
        values = {_text_of(item, node.parameters) for item in ast.walk(call) if isinstance(item, ast.expr)}
        unknown = bool(earlier) and given[:1] == [None] and not any(_checks_in(words[0]))
        if unknown or made & (values - {""}):
            read.add(given[0] or "")
    if "" in read or read & changed:
        raise InexpressibleError(
            f"the evaluation function of {node.subtask_id} compares with a state between the subtasks"
        )
    return tuple(sorted(read))


def _given(
    name: str, graph: networkx.DiGraph[str], nodes: Mapping[str, BoundSubtask], source: ExportSource
) -> dict[str, str]:
    """The files whose text is in the clipboard and the open documents that a node is given, where known."""
    found: dict[str, str] = {}
    for producer in graph.predecessors(name):
        node = nodes[producer]
        function = source.functions.get(node.subtask_id)
        for _, call in _checks_in(ast.parse(function.source if function is not None else "")):
            words = {word.arg: _text_of(word.value, node.parameters) for word in call.keywords}
            target, origin = words.get("target") or "", words.get("source")
            if origin and (target == _CLIPBOARD or is_open_document(target)):
                found.setdefault(target, origin)
    return found


def _reads_what_is_open(call: ast.Call, given: Collection[str]) -> bool:
    """Whether a check looks at a document open in an editor, no file; what it was `given` is known."""
    sources = [word.value for word in call.keywords if word.arg == "source"]
    return any(
        isinstance(item, ast.Constant)
        and isinstance(item.value, str)
        and is_open_document(item.value)
        and not (item in sources and item.value in given)
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
    """Puts a constant that decides nothing in the place of calls of some checks.

    It knows the places in which a condition must hold: the first part of a pair in a list of conditions, a
    guard that ends in failure, what is returned. Elsewhere, and inside an `or` of what must hold, the calls
    stay, for the caller to refuse.
    """

    def __init__(self, is_gone: Callable[[ast.Call], bool]) -> None:
        self._is_gone = is_gone

    def visit_List(self, node: ast.List) -> ast.expr:
        """Conditions of a list: each alone, or with its message."""
        for place, item in enumerate(node.elts):
            if isinstance(item, ast.Tuple) and item.elts:
                item.elts[0] = self._without(item.elts[0], True)
            else:
                node.elts[place] = self._without(item, True)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """A guard; its condition must not hold."""
        if not _fails(node.body) or node.orelse:
            return self.generic_visit(node)
        node.test = self._without(node.test, False)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """The result: its first field, or all of it."""
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "EvalResult":
            if value.args:
                value.args[0] = self._without(value.args[0], True)
            for word in value.keywords:
                if word.arg == "success":
                    word.value = self._without(word.value, True)
        elif value is not None:
            node.value = self._without(value, True)
        return node

    def _without(self, node: ast.expr, neutral: bool) -> ast.expr:
        if isinstance(node, ast.Call):
            return ast.Constant(neutral) if self._is_gone(node) else node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._without(node.operand, not neutral)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And if neutral else ast.Or):
            node.values = [self._without(item, neutral) for item in node.values]
        return node


def _fails(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    value = last.value
    if isinstance(value, ast.Call):
        given = value.args[0] if value.args else None
        value = given or next((word.value for word in value.keywords if word.arg == "success"), value)
    return isinstance(value, ast.Constant) and value.value is False
