"""Alterations that nothing notices: every place of the state at the end of right work is altered separately.

The examination makes its counterfeits from what performances changed. This sweep is independent of that: it
goes through everything that an application or a user stores, file by file and field by field, alters, removes
or duplicates each item separately, and asks the function and the account of side effects again. What both
accept is either an irrelevant place (a time, a random id, the width of a window) or damage that is missed:

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
_MAXIMUM_PER_KIND = 2
"""Number of places of one kind, such as one column of a table, that are tried."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def sweep(end: Evidence) -> Iterator[tuple[str, Edited]]:
    """Every alteration of `end`, with the kind of its place."""
    noise = noise_between(end, end)
    for file in end.files:
        if not noise.concerns(file.path):
            yield from _file(end, file)
    tops = sorted({path.partition("/")[0] for path in end.directories if not path.startswith(".")})
    for top in tops:
        directories = tuple(sorted({*end.directories, f"{top}/{_OTHER}"}))
        edited = end.model_copy(update={"directories": directories})
        yield "a folder was made", Edited(f"{top}/{_OTHER}", edited)
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
    counts: Counter[str] = Counter()
    for address, node, parent in _walk(tree):
        for change, text in _edits(file.path, file.text, form, node, parent):
            kind = f"{file.path} [{form}] {_pattern(address, tree)}: {change}"
            counts[kind] += 1
            if counts[kind] <= _MAXIMUM_PER_KIND and text is not None and text != file.text:
                content = finished(form, file.text, text) if change != "altered" else text
                yield kind, Edited(f"{'/'.join(address)}: {change}", with_text(end, file.path, content))


def _walk(tree: Node) -> Iterator[tuple[tuple[str, ...], Node, Node]]:
    pending: list[tuple[tuple[str, ...], Node, Node]] = [
        ((child.name,), child, tree) for child in tree.children
    ]
    while pending:
        address, node, parent = pending.pop()
        yield address, node, parent
        pending.extend(((*address, child.name), child, node) for child in reversed(node.children))


def _pattern(address: Sequence[str], tree: Node) -> str:
    parts, node = [], tree
    for name in address:
        node = next(child for child in node.children if child.name == name)
        parts.append("*" if node.naming in ("record", "position") else name)
    return "/".join(parts)


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
    """Kinds of places whose alteration neither the function nor the account notices, with an example each;
    the number of tried alterations under "#"."""
    positive = stored.positive
    node = stored.subtask.bind(positive.parameters, load_resource_categories())
    start, tried = positive.initial_evidence, 0
    examples: dict[str, str] = {}
    for kind, edited in sweep(positive.final_evidence):
        tried += 1
        if account.of([node], start, edited.evidence).total:
            continue
        if sandbox.evaluate(source, positive.parameters, edited.evidence, start=start).passed:
            examples.setdefault(kind, edited.description)
    examples["#"] = str(tried)
    return examples


def main() -> None:
    """Print the unnoticed alterations, subtask by subtask."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.state_sweep", description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--warehouse", type=Path, default=DATA / "warehouse")
    parser.add_argument(
        "--functions", type=Path, help="judge with functions that benchmarks.written_again wrote"
    )
    arguments = parser.parse_args()
    functions = {} if arguments.functions is None else read_functions(arguments.functions)
    account = account_of(arguments.warehouse)
    with Warehouse(arguments.warehouse, read_only=True) as warehouse, EvaluationSandbox(PATIENT) as sandbox:
        for stored in stored_functions(warehouse):
            name = stored.subtask.subtask_id
            if arguments.parts and not any(name.startswith(part) for part in arguments.parts):
                continue
            if arguments.functions is not None and name not in functions:
                continue
            source = functions[name][0].source if functions else stored.function.source
            places = unnoticed(source, stored, account, sandbox)
            tried = places.pop("#")
            print(f"== {name}: {len(places)} kinds of {tried} alterations not noticed", flush=True)
            for kind, example in places.items():
                print(f"   {kind}   ({example[:90]})")


if __name__ == "__main__":
    main()
