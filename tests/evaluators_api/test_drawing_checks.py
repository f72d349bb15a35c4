"""Drawings are told apart by what they show, not by how they were saved; rows and references by what they
mean."""

import json

import pytest

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.reading import read
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence
from taskloom.taskgraph.records.interaction import Control, Rectangle
from tests.evaluators_api.state.evidence import evidence
from tests.evaluators_api.test_state_checks import ask

HOUSE: tuple[dict[str, object], ...] = (
    {"type": "rectangle", "id": "a", "seed": 1},
    {"type": "text", "id": "b", "text": "Boat house"},
)
SVG = (
    '<svg width="100" height="50"><defs><style>@font-face { src: url("x") }</style></defs><rect width="100"'
    ' height="50"/><g><path d="M0 0"/><path d="M1 1"/></g><g><text>Boat house</text></g></svg>'
)
CELL = '<mxCell id="2" value="{}" style="{}" vertex="1" parent="1"/>'


def excalidraw(*elements: dict[str, object], seed: int = 7) -> str:
    held = [{**element, "seed": seed, "versionNonce": seed * 3} for element in elements]
    return json.dumps({"type": "excalidraw", "version": 2, "elements": held, "files": {}})


def drawio(label: str, style: str = "rounded=0;whiteSpace=wrap;html=1;", etag: str = "x1") -> str:
    cells = '<mxCell id="0"/><mxCell id="1" parent="0"/>' + CELL.format(label, style)
    return (
        f'<mxfile etag="{etag}"><diagram id="{etag}" name="Page-1"><mxGraphModel><root>{cells}</root>'
        "</mxGraphModel></diagram></mxfile>"
    )


def rows(**shown: str) -> Evidence:
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    controls = [
        Control(label=f"{name}{number}", text=text, control_type="DataItem", row=name, rectangle=place)
        for name, texts in shown.items()
        for number, text in enumerate(texts.split("|"))
    ]
    return evidence({}).model_copy(update={"controls": tuple(controls)})


def test_two_savings_of_one_drawing_are_no_change_of_it() -> None:
    first, second = (
        evidence({"a.drawio": drawio("Start")}),
        evidence({"a.drawio": drawio("Start", etag="y2")}),
    )
    assert [item.address for item in effects(first, second, {})] == [()]
    path = "a.excalidraw"
    assert read(path, excalidraw(*HOUSE))[1].digest == read(path, excalidraw(*HOUSE, seed=9))[1].digest


@pytest.mark.parametrize(
    ("shapes", "texts", "expected"),
    [
        (["rectangle"], ["Boat house"], True),
        (["rectangle"], ["Boat\n house"], True),
        (["rectangle"], ["boat house"], False),
        (["ellipse"], ["Boat house"], False),
        (["rectangle"], [], False),
        (["rectangle", "rectangle"], ["Boat house"], False),
        ([], ["Boat house"], False),
    ],
)
def test_a_drawing_holds_exactly_its_shapes_and_texts(
    shapes: list[str], texts: list[str], expected: bool
) -> None:
    end = evidence({"a.excalidraw": excalidraw(*HOUSE)})
    assert ask(end, "check_drawing", file_path="a.excalidraw", shapes=shapes, texts=texts) is expected


def test_what_was_deleted_from_a_canvas_is_not_in_the_drawing() -> None:
    end = evidence({"a.excalidraw": excalidraw(*HOUSE, {"type": "arrow", "isDeleted": True})})
    assert ask(end, "check_drawing", file_path="a.excalidraw", shapes=["rectangle"], texts=["Boat house"])


@pytest.mark.parametrize(
    ("style", "kind"),
    [
        ("whiteSpace=wrap;html=1;", "rectangle"),
        ("ellipse;whiteSpace=wrap;", "ellipse"),
        ("shape=note;html=1;", "note"),
    ],
)
def test_the_style_of_a_diagram_says_what_shape_it_is(style: str, kind: str) -> None:
    end = evidence({"a.drawio": drawio("Start", style)})
    assert ask(end, "check_drawing", file_path="a.drawio", shapes=[kind], texts=["Start"])


@pytest.mark.parametrize(("corner", "shapes"), [("", []), ('x="0" y="0.0"', []), ('x="10"', ["rectangle"])])
def test_a_rectangle_is_a_background_only_if_it_covers_the_picture(corner: str, shapes: list[str]) -> None:
    rectangle = f'<rect width="100" height="50" {corner}/>'
    end = evidence({"a.svg": f'<svg width="100" height="50">{rectangle}</svg>'})
    assert ask(end, "check_drawing", file_path="a.svg", shapes=shapes, texts=[])


def test_an_export_shows_what_the_drawing_held_at_the_start() -> None:
    start = evidence({"a.excalidraw": excalidraw(*HOUSE)})
    files = {"a.excalidraw": excalidraw(*HOUSE), "a.svg": SVG}

    def copied(svg: str) -> object:
        end = evidence({**files, "a.svg": svg})
        return ask(end, "check_drawing_copied", start, source="a.excalidraw", target="a.svg")

    assert copied(SVG)
    assert not copied(SVG.replace("Boat house", "Jetty"))
    assert not copied(SVG.replace('<g><path d="M0 0"/><path d="M1 1"/></g>', ""))
    assert not copied("<svg></svg>")


def test_a_saved_diagram_shows_what_the_screen_showed() -> None:
    start = rows(canvas="Router")
    right, wrong = evidence({"a.drawio": drawio("Router")}), evidence({"a.drawio": drawio("Switch")})
    assert ask(right, "check_drawing_shown_before", start, file_path="a.drawio")
    assert not ask(wrong, "check_drawing_shown_before", start, file_path="a.drawio")


def test_nothing_of_the_file_that_was_open_is_missing_in_what_is_saved() -> None:
    def drawn(*labels: str) -> str:
        cells = "".join(f'<mxCell id="{label}" value="{label}" vertex="1" parent="1"/>' for label in labels)
        return f"<mxfile><diagram><mxGraphModel><root>{cells}</root></mxGraphModel></diagram></mxfile>"

    def start(title: str, shown: str) -> Evidence:
        before = {"net.drawio": drawn("Router", "Switch"), "hall.drawio": drawn("Router")}
        return evidence(before).model_copy(update={"controls": rows(title=title, canvas=shown).controls})

    def holds(begun: Evidence, *labels: str) -> bool:
        saved = evidence({"a.drawio": drawn(*labels)})
        return bool(ask(saved, "check_drawing_shown_before", begun, file_path="a.drawio"))

    network = start("diagrams.net: net.drawio - app", "Router|Switch")
    assert holds(network, "Router", "Switch")
    assert not holds(network, "Router")
    added = start("diagrams.net: net.drawio - app", "Router|Switch|Printer")
    assert holds(added, "Router", "Switch", "Printer")
    removed = start("diagrams.net: net.drawio - app", "Switch")
    assert holds(removed, "Switch")


def test_an_opened_diagram_is_shown_until_it_is_emptied() -> None:
    held = {"a.drawio": drawio("Router"), "b.drawio": drawio("")}
    end = evidence(held).model_copy(update={"controls": rows(canvas="Router").controls})
    assert ask(end, "check_drawing_shown", file_path="a.drawio")
    assert not ask(evidence(held), "check_drawing_shown", file_path="a.drawio")
    assert not ask(end, "check_drawing_shown", file_path="b.drawio")
    assert not ask(end, "check_drawing_shown", file_path="missing.drawio")


def test_one_row_is_in_another_state() -> None:
    start = rows(mailer="running|pid 6, uptime 0:00:01", backup="stopped|Not started")
    right = rows(mailer="stopped|Nov 22 10:09 AM", backup="stopped|Not started")
    assert ask(right, "check_row_shows", row="mailer", text="stopped")
    assert not ask(start, "check_row_shows", row="mailer", text="stopped")


def test_a_text_can_be_asked_for_letter_by_letter() -> None:
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    tab = Control(label="1", text="Overview", control_type="Text", rectangle=place)
    field = Control(label="2", text="Name", value="Plan", control_type="Edit", rectangle=place)
    end = evidence({}).model_copy(update={"controls": (tab, field)})

    def shows(text: str, exact: bool = False) -> object:
        return ask(end, "check_text_exists_via_control", text=text, exact=exact)

    assert shows("overview") and shows("plan")
    assert shows("Overview", exact=True)
    assert not shows("overview", exact=True)
    assert not shows("Plan", exact=True)  # it was typed and never confirmed
    assert not shows("", exact=True)


FLOWS = json.dumps(
    [
        {"id": "b1", "type": "tab", "label": "Shopping"},
        {"id": "b2", "type": "inject", "z": "b1", "payload": "Bread and milk", "wires": [["b3"]]},
        {"id": "c1", "type": "tab", "label": "Ideas"},
        {"id": "c2", "type": "inject", "z": "c1", "payload": "Plant herbs", "wires": [[]]},
    ]
)


def test_a_field_is_found_through_the_record_that_it_belongs_to() -> None:
    end = evidence({"flows.json": FLOWS})
    for label, payload in (("Shopping", "Bread and milk"), ("Ideas", "Plant herbs"), ("Nothing", "")):
        fields = {"label": label}
        assert ask(end, "get_linked_field", file_path="flows.json", field="payload", fields=fields) == payload


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ((0, 1), True),
        ((1, 0), True),
        ((0,), False),
        ((2, 3), False),
        ((0, 1, 3), False),
    ],
)
def test_what_is_copied_is_a_record_with_all_that_belongs_to_it(
    held: tuple[int, ...], expected: bool
) -> None:
    start = evidence({"flows.json": FLOWS})
    text = json.dumps([json.loads(FLOWS)[index] for index in held])
    end = evidence({"flows.json": FLOWS}, clipboard=ClipboardState(text=text))
    copied = ask(
        end,
        "check_records_copied",
        start,
        source="flows.json",
        target="clipboard",
        belonging_to={"label": "Shopping"},
    )
    assert copied is expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("one\ntwo\nthree\n", True),
        ("three\none\ntwo\n", False),
        ("one\nthree\n", False),
        ("one\ntwo\n", False),
        ("one\ntwo\nthree\nfour\n", False),
        ("one\ntwo\n three\n", False),
    ],
)
def test_a_text_is_extended_at_its_end_alone(after: str, expected: bool) -> None:
    start, end = evidence({"a.txt": "one\ntwo\n"}), evidence({"a.txt": after})
    assert ask(end, "check_text_extended", start, file_path="a.txt", text="three") is expected


def test_items_of_one_name_belong_to_one_item() -> None:
    ledger = (
        '2024-01-05 * "Shop" "Bread"\n  Expenses:Food  12.50 EUR\n  Assets:Cash\n\n'
        '2024-01-06 * "Rent"\n  Expenses:Rent  800.00 EUR\n  Assets:Checking\n'
    )
    end = evidence({"a.beancount": ledger})

    def holds(**fields: str) -> object:
        return ask(end, "check_record", file_path="a.beancount", fields=fields)

    food = {"narration": "Bread", "postings/*/account": "Expenses:Food"}
    assert holds(**food, **{"postings/*/amount": "12.50 EUR"})
    assert not holds(**food, **{"postings/*/amount": "800.00 EUR"})
    assert not holds(**{"narration": "Bread", "postings/*/account": "Assets:Checking"})


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("title: Bread\ntags: home\nmodified: 20260102080000000\n\nFlour\nSalt", True),
        ("title: Bread\ntags: home shop\nmodified: 20260102080000000\n\nFlour\nSalt", True),
        ("title: Bread\ntags: home\nmodified: 20260102080000000\n\nSalt\nFlour", False),
    ],
)
def test_a_text_is_extended_at_its_end_whatever_other_fields_hold(after: str, expected: bool) -> None:
    start = evidence({"wiki/Bread.tid": "title: Bread\ntags: home\nmodified: 20260102080000000\n\nFlour"})
    end = evidence({"wiki/Bread.tid": after})
    place = {"file_path": "wiki/Bread.tid", "field": "text"}
    assert ask(end, "check_text_extended", start, text="Salt", **place) is expected
