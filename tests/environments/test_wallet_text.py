"""What checks read of a wallet of HomeBank: what was paid, by names and not by numbers of records."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence.unpacked_text import unpacked_text

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)
WALLET = """<?xml version="1.0"?>
<homebank v="{version}" d="050602"><properties title={title} curr="1"/>
<cur key="1" iso="USD" frac="2"/>{inside}</homebank>
"""


def element(tag: str, **fields: object) -> str:
    return f"<{tag} {' '.join(f'{key}={quoteattr(str(value))}' for key, value in fields.items())}/>"


def told(*elements: str, title: str = "Home", version: str = "1.4") -> dict[str, Any]:
    content = WALLET.format(version=version, title=quoteattr(title), inside="".join(elements)).encode()
    kind, text = unpacked_text(content) or ("", "")
    assert kind == "homebank"
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@given(NAMES, NAMES, NAMES, NAMES, st.dates(), st.integers(-(10**9), 10**9))
def test_a_transaction_names_what_it_refers_to(
    title: str, account: str, payee: str, memo: str, day: date, cents: int
) -> None:
    paid = {"date": day.toordinal(), "amount": repr(cents / 100), "account": 3, "payee": 7, "wording": memo}
    elements = [
        element("account", key=3, name=account, initial="0"),
        element("pay", key=7, name=payee),
        element("ope", **paid),
    ]
    found = told(*elements, title=title)
    assert found["wallet"] == title and found["payees"] == [{"name": payee}]
    assert found["accounts"] == [{"name": account, "initial": "0.00"}]
    named = {"account": account, "payee": payee, "memo": memo}
    expected = {"date": day.isoformat(), "amount": f"{cents / 100:.2f}"}
    assert found["transactions"] == [expected | {key: value for key, value in named.items() if value}]


def test_numbers_of_records_and_how_amounts_are_written_make_no_difference() -> None:
    def wallet(number: int, amount: str) -> dict[str, Any]:
        return told(element("cat", key=number, name="Food"), element("ope", amount=amount, category=number))

    assert wallet(1, "-25.4") == wallet(9, "-25.399999999999999")
    assert wallet(1, "-25.4") != wallet(1, "-25.5")


def test_transactions_stand_by_date_wherever_the_program_keeps_them() -> None:
    first, second = element("ope", date=739678, amount="1"), element("ope", date=739700, amount="2")
    found = told(second, first)
    assert found == told(first, second)
    assert [item["date"] for item in found["transactions"]] == ["2026-03-03", "2026-03-25"]


def test_what_is_out_of_the_ordinary_is_told() -> None:
    found = told(
        element("account", key=1, name="a", flags=2, bankname="Bank", number="12"),
        element("cat", key=1, name="Work", flags=2),
        element("cat", key=2, name="Extra", parent=1, flags=3),
        element("fav", amount="5", dst_account=1, st=2, info="i", tags="t"),
    )
    account = {"name": "a", "initial": "0.00", "bank": "Bank", "number": "12", "closed": "yes"}
    assert found["accounts"] == [account]
    assert found["categories"] == [
        {"name": "Work", "kind": "income"},
        {"name": "Extra", "part of": "Work", "kind": "income"},
    ]
    kept = {"amount": "5.00", "to": "a", "info": "i", "tags": "t", "state": "reconciled"}
    assert found["templates"] == [kept]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])))
def test_any_text_may_stand_where_a_number_is_meant(text: str) -> None:
    fields = dict.fromkeys(("date", "amount", "account", "payee", "category", "st"), text)
    found = told(element("ope", **fields), element("account", name="a", flags=text, initial=text))
    assert len(found["transactions"]) == len(found["accounts"]) == 1


@pytest.mark.parametrize("change", [("Home", "&x;"), ("</homebank>", ""), ("<properties", "<other")])
def test_other_texts_stay_what_they_are(change: tuple[str, str]) -> None:
    text = WALLET.format(version="1.4", title='"Home"', inside="").replace(*change)
    assert unpacked_text(text.encode()) is None
