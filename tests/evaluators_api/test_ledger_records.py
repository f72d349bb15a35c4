"""Transactions of a ledger in whatever way they are written: which posting has the amount, and which is left
to the program."""

from __future__ import annotations

import pytest

from taskloom.taskgraph.records.evidence import Evidence
from tests.evaluators_api.test_state_checks import ask
from tests.synthesis.recordings import file

WANTED = {"payee": "Dairy", "postings/*/account": "Expenses:Food", "postings/*/amount": "9.80 USD"}


def booked(*postings: str) -> Evidence:
    text = '2026-04-07 * "Dairy" "Milk"\n' + "".join(f"  {line}\n" for line in postings)
    return Evidence(step=1, files=(file("Documents/a.beancount", text),))


@pytest.mark.parametrize(
    ("postings", "expected"),
    [
        (("Expenses:Food  9.80 USD", "Assets:Cash"), True),
        (("Assets:Cash  -9.80 USD", "Expenses:Food"), True),
        (("Assets:Cash  -9.8 USD", "Expenses:Food   9.8 USD"), True),
        (("Assets:Cash  9.80 USD", "Expenses:Food"), False),
        (("Assets:Cash  -9.80 EUR", "Expenses:Food"), False),
        (("Assets:Cash  -9.80 USD", "Expenses:Rent"), False),
        (("Assets:Cash  -5 USD", "Assets:Bank  -4.80 USD", "Expenses:Food"), True),
        (("Assets:Cash  -9.80 USD", "Expenses:Food", "Expenses:Rent"), False),
    ],
)
def test_an_amount_that_is_left_to_the_program_counts_as_written(
    postings: tuple[str, ...], expected: bool
) -> None:
    assert (
        ask(booked(*postings), "check_record", file_path="Documents/a.beancount", fields=WANTED) is expected
    )
