"""What nobody notices: every place of the state at the end of right work, altered by itself.

The examination makes its counterfeits from what performances changed. This sweep takes no notice of that: it
goes through all that an application or a user keeps, file by file and field by field, alters, removes or
doubles each thing alone, and asks the function and the account of side effects once more. What both accept is
either a place that says nothing (a time, a random id, the width of a window) or damage that is missed:

    python -m benchmarks.state_sweep [--warehouse FOLDER] [SUBTASK …]
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.function_files import read_functions
from benchmarks.labelled_performances import DATA
from benchmarks.labelled_work import PATIENT, account_of
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.editing import Edited, rewritten, with_another, with_text, without_files
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.noise import noise_between
from taskloom.evaluators_api.state.reading import finished, read
from taskloom.flows.examination import StoredFunction, stored_functions
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.warehouse.store import Warehouse

_OTHER = "zq7"
_MOST_ALIKE = 2
"""Places of one kind, such as one column of a table, that are tried."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def sweep(end: Evidence) -> Iterator[tuple[str, Edited]]:
    """Every alteration of `end` with the kind of place that it concerns."""
    noise = noise_between(end, end)
    for file in end.files:
        if not noise.concerns(file.path):
            yield from _file(end, file)
    tops = sorted({path.partition("/")[0] for path in end.directories if not path.startswith(".")})
    for top in tops:
        made = tuple(sorted({*end.directories, f"{top}/{_OTHER}"}))
        yield "a folder was made", Edited(f"{top}/{_OTHER}", end.model_copy(update={"directories": made}))
        path = f"{top}/{_OTHER}.txt"
        yield "a file was made", Edited(path, with_text(end, path, "x"))


def _file(end: Evidence, file: FileState) -> Iterator[tuple[str, Edited]]:
    yield f"{file.path} was deleted", Edited(file.path, without_files(end, {file.path}))
    if file.text is None or file.truncated:
        changed = file.model_copy(update={"sha256": "0" * 64})
        files = tuple(changed if item is file else item for item in end.files)
        yield f"{file.path} has other bytes", Edited(file.path, end.model_copy(update={"files": files}))
        return
    form, tree = read(file.path, file.text)
    seen: Counter[str] = Counter()
    for address, node, parent in _walk(tree):
        for what, text in _edits(file.path, file.text, form, node, parent):
            kind = f"{file.path} [{form}] {_pattern(address, node, tree)}: {what}"
            seen[kind] += 1
            if seen[kind] <= _MOST_ALIKE and text is not None and text != file.text:
                done = finished(form, file.text, text) if what != "altered" else text
                yield kind, Edited(f"{'/'.join(address)}: {what}", with_text(end, file.path, done))


def _walk(tree: Node) -> Iterator[tuple[tuple[str, ...], Node, Node]]:
    pending: list[tuple[tuple[str, ...], Node, Node]] = [
        ((child.name,), child, tree) for child in tree.children
    ]
    while pending:
        address, node, parent = pending.pop()
        yield address, node, parent
        pending.extend(((*address, child.name), child, node) for child in reversed(node.children))


def _pattern(address: Sequence[str], node: Node, tree: Node) -> str:
    shown, at = [], tree
    for name in address:
        at = next(child for child in at.children if child.name == name)
        shown.append("*" if at.naming in ("record", "position") else name)
    return "/".join(shown)


def _edits(path: str, text: str, form: str, node: Node, parent: Node) -> Iterator[tuple[str, str | None]]:
    if node.value is not None:
        number = _NUMBER.fullmatch(node.value)
        value = str(int(float(node.value)) + 7) if number else f"{node.value} {_OTHER}".strip()
        yield "altered", rewritten(path, text, [(node, value)])
        if node.value:
            yield "emptied", rewritten(path, text, [(node, "")])
        if form == "json_tree" and number and text[node.raw[0]] not in "\"'":
            yield "quoted", f'{text[: node.raw[0]]}"{node.value}"{text[node.raw[1] :]}'
    if node.extent is not None:
        yield "removed", text[: node.extent[0]] + text[node.extent[1] :]
    if node.naming in ("record", "position"):
        begin, end = node.whole or node.raw
        yield "doubled", with_another(text, node, text[begin:end], (text, parent))


def unnoticed(
    source: str, stored: StoredFunction, account: SideEffectAccount, sandbox: EvaluationSandbox
) -> dict[str, str]:
    """Kinds of places whose alteration neither the function nor the account notices, with an example; under
    "#" how many alterations were tried."""
    positive = stored.positive
    node = stored.subtask.bind(positive.parameters, load_resource_categories())
    start, tried = positive.initial_evidence, 0
    found: dict[str, str] = {}
    for kind, edited in sweep(positive.final_evidence):
        tried += 1
        if account.of([node], start, edited.evidence).total:
            continue
        if sandbox.evaluate(source, positive.parameters, edited.evidence, start=start).passed:
            found.setdefault(kind, edited.description)
    found["#"] = str(tried)
    return found


def main() -> None:
    """Print what is not noticed, subtask by subtask."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.state_sweep", description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--warehouse", type=Path, default=DATA / "warehouse")
    parser.add_argument(
        "--functions", type=Path, help="judge with functions that benchmarks.written_again wrote"
    )
    given = parser.parse_args()
    functions = {} if given.functions is None else read_functions(given.functions)
    account = account_of(given.warehouse)
    with Warehouse(given.warehouse, read_only=True) as warehouse, EvaluationSandbox(PATIENT) as sandbox:
        for stored in stored_functions(warehouse):
            name = stored.subtask.subtask_id
            if given.parts and not any(name.startswith(part) for part in given.parts):
                continue
            if given.functions is not None and name not in functions:
                continue
            source = functions[name][0].source if functions else stored.function.source
            places = unnoticed(source, stored, account, sandbox)
            asked = places.pop("#")
            print(f"== {name}: {len(places)} kinds of {asked} alterations not noticed", flush=True)
            for kind, example in places.items():
                print(f"   {kind}   ({example[:90]})")


if __name__ == "__main__":
    main()
