"""A wallet of HomeBank as JSON: accounts, payees, categories and transactions, by their names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from xml.etree import ElementTree

_STATES = {"1": "cleared", "2": "reconciled", "3": "remind", "4": "void"}
_INCOME, _CLOSED = 2, 2
"""Marks of a category, and of an account."""
_Names = Mapping[str, Mapping[str, str]]


def render_wallet(root: ElementTree.Element) -> str | None:
    """Title of the wallet; its accounts, payees and categories; its transactions by date, and those kept as
    templates, each with the names of what it refers to, its date as in 2026-03-12, and its amount, which is
    negative for expenses. None for a file of another program.

    Numbers of records, their order in the file, currencies and settings of the program are left out.
    """
    if not root.get("d") or root.find("properties") is None:
        return None
    names = {
        kind: {item.get("key", ""): item.get("name", "") for item in root.findall(kind)}
        for kind in ("account", "pay", "cat")
    }
    properties = root.find("properties")
    told = {
        "wallet": "" if properties is None else properties.get("title", ""),
        "accounts": [_account(item) for item in root.findall("account")],
        "payees": [{"name": item.get("name", "")} for item in root.findall("pay")],
        "categories": [_category(item, names["cat"]) for item in root.findall("cat")],
        "transactions": _transactions(root.findall("ope"), names),
        "templates": _transactions(root.findall("fav"), names),
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


def _account(item: ElementTree.Element) -> dict[str, str]:
    return _filled(
        name=item.get("name", ""),
        initial=_amount(item.get("initial", "0")),
        bank=item.get("bankname", ""),
        number=item.get("number", ""),
        closed="yes" if _whole(item.get("flags", "0")) & _CLOSED else "",
    )


def _category(item: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str]:
    income = _whole(item.get("flags", "0")) & _INCOME
    above = names.get(item.get("parent", ""), "")
    return _filled(
        **{"name": item.get("name", ""), "part of": above, "kind": "income" if income else "expense"}
    )


def _transactions(items: Iterable[ElementTree.Element], names: _Names) -> list[dict[str, str]]:
    found = (_transaction(item, names) for item in items)
    return sorted(found, key=lambda told: (told.get("date", ""), *told.values()))


def _transaction(item: ElementTree.Element, names: _Names) -> dict[str, str]:
    def named(kind: str, field: str) -> str:
        return names[kind].get(item.get(field, ""), "")

    return _filled(
        memo=item.get("wording", ""),
        date=_date(item.get("date", "")),
        amount=_amount(item.get("amount", "")),
        account=named("account", "account"),
        to=named("account", "dst_account"),
        payee=named("pay", "payee"),
        category=named("cat", "category"),
        info=item.get("info", ""),
        tags=item.get("tags", ""),
        state=_STATES.get(item.get("st", ""), ""),
    )


def _filled(**fields: str) -> dict[str, str]:
    """`fields` without those that are empty, except the name and the amount."""
    return {name: value for name, value in fields.items() if value or name in ("name", "amount")}


def _amount(text: str) -> str:
    try:
        return f"{float(text):.2f}"
    except (ValueError, OverflowError):
        return ""


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _date(text: str) -> str:
    try:
        return date.fromordinal(_whole(text)).isoformat()
    except (ValueError, OverflowError):
        return ""
