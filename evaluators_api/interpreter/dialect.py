"""Rewrites what models habitually write into the language of the sandbox. Each rule keeps the meaning
exactly, or leaves the code for `static_analysis` to refuse.

fences and prose around the code    dropped
`EvalResult` used but not defined   the paper's namedtuple is added
`class EvalResult(NamedTuple)`      becomes a call of `namedtuple`, as `NamedTuple('EvalResult', [...])` does
`class X(object)`                   loses its base
`from checks import check_x`        dropped if it imports only checks
`os.path`, `ntpath`, `posixpath`    become functions on names of both systems; `os.path.exists` a check
`Path(p).name`, `.stem`, `.suffix`  become functions on path names; `Path(p).exists()` becomes a check
`next(x for x in …)`                gets an iterator, because the sandbox makes a list of the expression
`IOError`, `EnvironmentError`       become `OSError`, of which they are aliases
`logging`                           statements are dropped
`if __name__ == "__main__"`, `print(...)` at the top level   dropped
"""

import ast
import re

from taskloom.evaluators_api.checks.declaration import checks
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT, parse_source

REWRITTEN_MODULES = frozenset({"os", "os.path", "ntpath", "posixpath", "pathlib", "logging"})
"""Modules whose uses are rewritten; uses that remain are refused."""
LAZY = frozenset(["enumerate", "filter", "map", "zip"])
_RETURNING_LISTS = LAZY | {"reversed"}
"""Built-in functions whose result is a list in the sandbox and an iterator in Python."""
_FENCED_BLOCK = re.compile(
    r"^[ \t]*((?>`{3,}|~{3,}))[^\n`]*\n(.*?)(?:^[ \t]*\1[^\S\n]*$|(\Z))", re.MULTILINE | re.DOTALL
)
"""The marks of a fence, the text up to the next fence of the same marks, and a third group that matches only
if there is none."""
_EXCEPTION_ALIASES = {"IOError": "OSError", "EnvironmentError": "OSError"}
_PATH_MODULES = {"os.path", "ntpath", "posixpath"}
_PATH_CLASSES = {f"pathlib.{pure}{kind}Path" for pure in ("", "Pure") for kind in ("", "Posix", "Windows")}
_NAME_FUNCTIONS = {"basename", "dirname", "join", "normpath", "split", "splitext"}
_EXISTENCE_CHECKS = {
    "exists": ("check_file_exists", "check_directory_exists"),
    "isfile": ("check_file_exists",),
    "is_file": ("check_file_exists",),
    "isdir": ("check_directory_exists",),
    "is_dir": ("check_directory_exists",),
}
_EVAL_RESULT_DEFINITION = (
    "EvalResult = namedtuple('EvalResult', ['success', 'message', 'progress'], defaults=('', None))"
)
_SEPARATORS = {"os.sep": "/", "os.path.sep": "/", "os.linesep": "\n", "os.extsep": "."}


def unfence(text: str) -> str:
    r"""The code in a model's reply: the fenced block that defines the entry point, or the whole text.

    >>> unfence("Here it is:\n```python\nx = 1\n```\nDone.")
    'x = 1\n'
    """
    blocks = [match[2] for match in _FENCED_BLOCK.finditer(text) if match[3] is None]
    return next((block for block in blocks if f"def {ENTRY_POINT}" in block), (blocks or [text])[0])


def rewrite(tree: ast.Module) -> ast.Module:
    """Apply the rules to `tree` in place and return it."""
    names = imported_names(tree)
    rewriter = _Rewriter(names)
    rewriter.visit(tree)
    tree.body = [statement for statement in tree.body if not _is_demonstration(statement)]
    used = any(isinstance(node, ast.Name) and node.id == "EvalResult" for node in ast.walk(tree))
    if used and not _binds(tree, "EvalResult"):
        tree.body[:0] = parse_source(_EVAL_RESULT_DEFINITION).body
        rewriter.needs_namedtuple = True
    if rewriter.needs_namedtuple:
        tree.body.insert(0, ast.ImportFrom("collections", [ast.alias("namedtuple")], 0))
    return ast.fix_missing_locations(tree)


def imported_names(tree: ast.Module) -> dict[str, str]:
    """The dotted origin of each name that the imports of `tree` bind; a logger counts as `logging`."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.partition(".")[0]
                names[alias.asname or package] = alias.name if alias.asname else package
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and _dotted(node.value.func, names) == "logging.getLogger"
        ):
            names.update({target.id: "logging" for target in node.targets if isinstance(target, ast.Name)})
    return names


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(parts)])


class _Rewriter(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.needs_namedtuple = False

    def visit_Import(self, node: ast.Import) -> ast.Import | None:
        node.names = [alias for alias in node.names if alias.name not in REWRITTEN_MODULES]
        return node if node.names else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        if node.level == 0 and node.module in (*REWRITTEN_MODULES, "__future__"):
            return None
        if node.module == "typing":
            node.names = [alias for alias in node.names if alias.name != "NamedTuple"]
        elif all(alias.name in checks() or alias.name == "EvalResult" for alias in node.names):
            return None
        return node if node.names else None

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Call) and self._dotted(node.value.func).startswith("logging."):
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if isinstance(node.value, ast.Call) and self._dotted(node.value.func) == "logging.getLogger":
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        separator = _SEPARATORS.get(self._dotted(node))
        if separator is not None:
            return ast.copy_location(ast.Constant(separator), node)
        path = self._path_of(node.value)
        if path is not None and node.attr in ("name", "stem", "suffix"):
            name = _call("path_basename", self.visit(path))
            if node.attr == "name":
                return ast.copy_location(name, node)
            part = ast.Constant(0 if node.attr == "stem" else 1)
            return ast.copy_location(ast.Subscript(_call("path_splitext", name), part, ast.Load()), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in _EXCEPTION_ALIASES and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Name(_EXCEPTION_ALIASES[node.id], ast.Load()), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        dotted = self._dotted(node.func)
        module, _, function = dotted.rpartition(".")
        if module in _PATH_MODULES and not node.keywords:
            if function in _NAME_FUNCTIONS:
                return ast.copy_location(_call(f"path_{function}", *map(self.visit, node.args)), node)
            if function in _EXISTENCE_CHECKS and len(node.args) == 1:
                return ast.copy_location(self._existence(function, node.args[0]), node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _EXISTENCE_CHECKS and not node.args:
            path = self._path_of(node.func.value)
            if path is not None:
                return ast.copy_location(self._existence(node.func.attr, path), node)
        listed = node.args[1] if dotted == "typing.NamedTuple" and len(node.args) == 2 else None
        if isinstance(listed, ast.List | ast.Tuple):
            pairs = listed.elts
            if all(isinstance(pair, ast.Tuple) and len(pair.elts) == 2 for pair in pairs):
                self.needs_namedtuple = True
                fields: list[ast.expr] = [pair.elts[0] for pair in pairs if isinstance(pair, ast.Tuple)]
                named = _call("namedtuple", node.args[0], ast.List(fields, ast.Load()))
                return ast.copy_location(named, node)
        self.generic_visit(node)
        return _with_iterator(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        self.generic_visit(node)
        bases = [base.id if isinstance(base, ast.Name) else self._dotted(base) for base in node.bases]
        if bases == ["object"]:
            node.bases = []
        if bases in (["NamedTuple"], ["typing.NamedTuple"]) and not node.decorator_list and not node.keywords:
            return self._named_tuple(node) or node
        return node

    def _named_tuple(self, node: ast.ClassDef) -> ast.stmt | None:
        fields: list[ast.expr] = []
        defaults: list[ast.expr] = []
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                fields.append(ast.Constant(statement.target.id))
                if statement.value is not None:
                    defaults.append(statement.value)
            elif not isinstance(statement, ast.Pass) and not (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                return None
        self.needs_namedtuple = True
        call = _call("namedtuple", ast.Constant(node.name), ast.List(fields, ast.Load()))
        if defaults:
            call.keywords = [ast.keyword("defaults", ast.Tuple(defaults, ast.Load()))]
        return ast.copy_location(ast.Assign([ast.Name(node.name, ast.Store())], call), node)

    def _existence(self, function: str, path: ast.expr) -> ast.expr:
        visited = self.visit(path)
        calls: list[ast.expr] = [_call(name, visited) for name in _EXISTENCE_CHECKS[function]]
        return calls[0] if len(calls) == 1 else ast.BoolOp(ast.Or(), calls)

    def _path_of(self, node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        return node.args[0] if self._dotted(node.func) in _PATH_CLASSES else None

    def _dotted(self, node: ast.expr) -> str:
        return _dotted(node, self.names)


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _with_iterator(call: ast.Call) -> ast.Call:
    """`call`; if it is `next` of something that the sandbox makes a list, with an iterator over it."""
    first = call.args[0] if call.args and _name_of(call.func) == "next" else None
    if isinstance(first, ast.GeneratorExp):
        call.args[0] = _call("iter", ast.ListComp(first.elt, first.generators))
    elif isinstance(first, ast.Call) and _name_of(first.func) in _RETURNING_LISTS:
        call.args[0] = _call("iter", first)
    return call


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_demonstration(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If) and isinstance(statement.test, ast.Compare):
        return _name_of(statement.test.left) == "__name__"
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _name_of(statement.value.func) in ("print", ENTRY_POINT)
    return False


def _binds(tree: ast.Module, name: str) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name)
        or (isinstance(node, ast.alias) and (node.asname or node.name) == name)
        for node in ast.walk(tree)
    )
