"""Which sets are wanted: by share, or by applications and scenarios reserved for the test set."""

from collections.abc import Sequence

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.warehouse.errors import SelectionInvalidError
from taskloom.warehouse.sets.dividing import Division, divide
from taskloom.warehouse.sets.key_table import KeyTable
from taskloom.warehouse.sets.names import LEAK_KINDS, SPLITS, LeakKind, SplitName


class SetRequest(Record):
    """The sets of an export."""

    shares: dict[SplitName, float] = Field(default_factory=dict)
    """Part that each set gets, adding up to 1."""
    may_share: tuple[LeakKind, ...] = ()
    """What the sets may have in common."""
    held_out: tuple[str, ...] = ()
    """What makes the test set, as `application=NAME` or `scenario=NAME`; the shares divide the others."""


def parse_shares(text: str) -> dict[SplitName, float]:
    """Shares from text such as `train=0.8,test=0.2`; refused for an unknown set, one named twice, or no
    number."""
    shares: dict[SplitName, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        known = next((item for item in SPLITS if item == name.strip()), None)
        try:
            share = float(value)
        except ValueError:
            raise SelectionInvalidError(f"--split takes NAME=SHARE, not {part!r}.") from None
        if known is None:
            raise SelectionInvalidError(f"There is no set {name!r}; known: {', '.join(SPLITS)}.")
        if known in shares:
            raise SelectionInvalidError(f"--split names the set {known!r} twice.")
        shares[known] = share
    return shares


def parse_request(split: str, leak: str, held_out: Sequence[str]) -> SetRequest | None:
    """The request on a command line; None if it asks for no sets; refused where it makes no sense."""
    kinds: list[LeakKind] = []
    for name in filter(None, (part.strip() for part in leak.split(","))):
        kind = next((known for known in LEAK_KINDS if known == name), None)
        if kind is None:
            raise SelectionInvalidError(f"--leak takes {', '.join(LEAK_KINDS)}; not {name!r}.")
        kinds.append(kind)
    held = tuple(map(_held_out, held_out))
    shares = parse_shares(split) if split else {}
    if held and "test" in shares:
        raise SelectionInvalidError(
            "--hold-out makes the test set; --split then divides the other tasks into train and validation."
        )
    if not shares and not held:
        if kinds:
            raise SelectionInvalidError(
                "--leak says what sets may share; ask for sets with --split or --hold-out."
            )
        return None
    return SetRequest(shares=shares or {"train": 1.0}, may_share=tuple(kinds), held_out=held)


def hold_out(table: KeyTable, strata: KeyTable, request: SetRequest, seed: int) -> Division:
    """What is held out as the test set, the other tasks by shares; what shares a key with both is left out.
    Refused where no task belongs to what is held out, or every task does."""
    used = strata.users()
    present = {label: number for number, label in enumerate(strata.keys) if used[number]}
    for item in request.held_out:
        if item not in present:
            kind, _, name = item.partition("=")
            known = sorted(label for label in present if label.startswith(f"{kind}="))
            names = ", ".join(label.partition("=")[2] for label in known)
            raise SelectionInvalidError(f"No selected task has the {kind} {name!r}; there are: {names}.")
    labels = {present[item] for item in request.held_out}
    test = [number for number in range(len(table.tasks)) if labels.intersection(strata.content(number))]
    chosen = set(test)
    holders = {key for number in test for key in table.content(number)}
    left_out: dict[str, str] = {}
    rest: list[int] = []
    for number, task in enumerate(table.tasks):
        if number in chosen:
            continue
        shared = next((key for key in table.content(number) if key in holders), None)
        if shared is None:
            rest.append(number)
        else:
            left_out[task] = f"would connect test ({table.keys[shared]}) and train"
    if not rest:
        raise SelectionInvalidError(
            "Every other task shares something with what is held out; say with --leak what the sets may"
            " share."
        )
    inner = divide(table.only(rest), request.shares, seed, strata.only(rest))
    tasks: dict[SplitName, tuple[str, ...]] = {
        **inner.tasks,
        "test": tuple(sorted(table.tasks[number] for number in test)),
    }
    return Division(tasks, {**left_out, **inner.left_out})


def _held_out(text: str) -> str:
    kind, _, name = text.partition("=")
    if kind not in ("application", "scenario") or not name.strip():
        raise SelectionInvalidError(f"--hold-out takes application=NAME or scenario=NAME, not {text!r}.")
    return f"{kind}={name.strip()}"
