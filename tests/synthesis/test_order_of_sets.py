"""Only the first parameter sets of a proposal are performed; what others read must be among them."""

from __future__ import annotations

from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.synthesis.exploration.order_of_sets import performable_first
from taskloom.taskgraph.records.subtask import Subtask

CATEGORIES = {
    "bill_title": ResourceCategory(name="bill_title", kind=ResourceKind.RECORD, description="A bill.")
}
BILL = ResourceDeclaration(category="bill_title", parameter="bill")
THERE = [("bill_title", bill) for bill in ("Groceries", "Museum")]
NAMED = ResourceDeclaration(category="bill_title", parameter="new")


def proposal(
    name: str,
    sets: tuple[dict[str, str], ...],
    inputs: tuple[ResourceDeclaration, ...] = (),
    outputs: tuple[ResourceDeclaration, ...] = (),
) -> Subtask:
    return Subtask(
        subtask_id=f"bills.{name}",
        application="bills",
        application_category="Lifestyle",
        instruction_template=" ".join(["Do", *(f"'{{{parameter}}}'" for parameter in sets[0])]),
        available_parameters=sets,
        inputs=inputs,
        outputs=outputs,
    )


def test_what_others_read_comes_first_and_the_rest_stays_in_order() -> None:
    add = proposal("add", tuple({"bill": bill} for bill in ("Taxi", "Ice cream", "Maps", "Tea")), (), (BILL,))
    rename = proposal(
        "rename",
        ({"bill": "Groceries", "new": "Food"}, {"bill": "Maps", "new": "City maps"}),
        (BILL,),
        (NAMED,),
    )
    delete = proposal("delete", ({"bill": "City maps"}, {"bill": "Maps"}), (BILL,))
    change = proposal("change", ({"bill": "Museum"}, {"bill": "Ice cream"}), (BILL,))
    ordered = performable_first([add, rename, delete, change], CATEGORIES, performed=4, existing=THERE)
    assert [values["bill"] for values in ordered[0].available_parameters] == [
        "Maps",
        "Ice cream",
        "Taxi",
        "Tea",
    ]
    assert [values["new"] for values in ordered[1].available_parameters] == ["City maps", "Food"]
    assert ordered[2:] == (delete, change)


def test_what_a_subtask_makes_for_itself_is_not_there_for_it() -> None:
    rename = proposal("rename", ({"bill": "A", "new": "B"}, {"bill": "C", "new": "A"}), (BILL,), (NAMED,))
    assert performable_first([rename], CATEGORIES, performed=2, existing=[("bill_title", "C")])[
        0
    ].available_parameters == tuple(reversed(rename.available_parameters))


def test_sets_that_read_what_is_never_made_come_last() -> None:
    add = proposal("add", tuple({"bill": bill} for bill in ("Taxi", "Ice cream", "Maps")), (), (BILL,))
    pay = proposal("pay", ({"bill": "Maps"}, {"bill": "Food"}, {"bill": "Taxi"}, {"bill": "Museum"}), (BILL,))
    drop = proposal("drop", ({"bill": "Ice cream"}, {"bill": "Taxi"}), (BILL,))
    ordered = performable_first([add, pay, drop], CATEGORIES, performed=2, existing=THERE)
    assert [values["bill"] for values in ordered[1].available_parameters] == [
        "Taxi",
        "Museum",
        "Maps",
        "Food",
    ]
    assert ordered[2] == drop


def test_what_could_only_be_made_from_what_is_never_made_is_not_made() -> None:
    rename = proposal("rename", ({"bill": "Lost", "new": "Found"},), (BILL,), (NAMED,))
    drop = proposal("drop", ({"bill": "Found"}, {"bill": "Museum"}), (BILL,))
    ordered = performable_first([rename, drop], CATEGORIES, performed=2, existing=THERE)
    assert [values["bill"] for values in ordered[1].available_parameters] == ["Museum", "Found"]


def test_a_set_that_reads_what_others_make_leads_where_no_other_of_the_first_does() -> None:
    add = proposal("add", ({"bill": "Taxi"},), (), (BILL,))
    there = ({"bill": "Groceries"}, {"bill": "Museum"})
    delete = proposal("delete", (*there, {"bill": "Taxi"}, {"bill": "Tea"}), (BILL,))
    ordered = performable_first([add, delete], CATEGORIES, performed=2, existing=THERE)
    assert [values["bill"] for values in ordered[1].available_parameters] == [
        "Taxi",
        "Groceries",
        "Museum",
        "Tea",
    ]
    linked = proposal("delete", ({"bill": "Groceries"}, {"bill": "Taxi"}, {"bill": "Museum"}), (BILL,))
    assert performable_first([add, linked], CATEGORIES, performed=2, existing=THERE)[1] == linked
