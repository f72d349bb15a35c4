"""Checks of state tell right from wrong where a text that occurs somewhere would not."""

import pytest

from taskloom.evaluators_api.checks.declaration import Scene, check, checks
from taskloom.evaluators_api.errors import CheckDeclarationError, CheckMisusedError, CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState
from tests.evaluators_api.state.evidence import evidence

SALES = "region,amount\nNorth,10\nSouth,20\nWest,30\n"
SHOP = (
    'CREATE TABLE "customers"("id", "name", "city"); -- 2 rows\n'
    "INSERT INTO \"customers\" VALUES(2, 'Grace', 'New York');\n"
    "INSERT INTO \"customers\" VALUES(1, 'Ada', 'London');\n"
    'CREATE TABLE "sales"("region", "amount"); -- 3 rows\n'
    "INSERT INTO \"sales\" VALUES('North', 10);\n"
    "INSERT INTO \"sales\" VALUES('South', 20);\n"
    "INSERT INTO \"sales\" VALUES('West', 30.0);\n"
)
NOTE = "title: Shopping\ntags: home\n\nBuy milk\nand bread\n"
DRAWING = (
    '<mxfile><diagram><mxCell id="2" value="Start" vertex="1"/><mxCell id="3"'
    ' value="End"/></diagram></mxfile>'
)
CONFIG = '{"editor": {"theme": "dark"}, "people": [{"id": "p1", "name": "Ada", "city": "London"}]}'
CARD = "---\ntitle: Shopping\nposition: 6000.0\n---\n\nBuy milk\nand bread\n"
FILES = {
    "sales.csv": SALES,
    "shop.db": SHOP,
    "note.tid": NOTE,
    "card.md": CARD,
    "net.drawio": DRAWING,
    "config.json": CONFIG,
}
END = evidence(FILES, clipboard=ClipboardState(text="Total,1250"))


def ask(end: Evidence, name: str, start: Evidence | None = None, **named: object) -> object:
    scene = Scene(EvidenceView(end), None, None if start is None else EvidenceView(start))  # type: ignore[arg-type]
    return checks()[name].ask(scene, (), named)[1]


@pytest.mark.parametrize(
    ("path", "fields", "within", "expected"),
    [
        ("sales.csv", {"region": "North", "amount": "10"}, "", True),
        ("sales.csv", {"region": "North", "amount": "20"}, "", False),
        ("sales.csv", {"region": "Nor"}, "", False),
        ("sales.csv", {"area": "North"}, "", False),
        ("shop.db", {"name": "Grace", "city": "New York"}, "customers", True),
        ("shop.db", {"name": "Grace", "city": "new york"}, "customers", False),
        ("shop.db", {"name": " Grace", "city": "New York"}, "customers", False),
        ("shop.db", {"name": "Grace", "city": "London"}, "customers", False),
        ("shop.db", {"name": "Grace"}, "sales", False),
        ("shop.db", {"amount": "30"}, "sales", True),
        ("note.tid", {"title": "Shopping", "text": "Buy milk\nand bread"}, "", True),
        ("note.tid", {"title": "Shopping", "text": "Buy milk"}, "", False),
        ("card.md", {"title": "Shopping", "position": "6000", "text": "Buy milk\nand bread"}, "", True),
        ("card.md", {"title": "Shopping", "text": "Buy milk"}, "", False),
        ("net.drawio", {"text": "Start", "shape": "rectangle"}, "", True),
        ("net.drawio", {"text": "End"}, "", False),
        ("config.json", {"name": "Ada", "city": "London"}, "people", True),
        ("config.json", {"name": "Ada"}, "editor", False),
        ("", {"name": "Ada", "city": "London"}, "", True),
        ("missing.csv", {"name": "Ada"}, "", False),
    ],
)
def test_a_record_must_hold_all_values_together(
    path: str, fields: dict[str, str], within: str, expected: bool
) -> None:
    assert ask(END, "check_record", file_path=path, fields=fields, within=within) is expected


def test_records_are_counted() -> None:
    assert ask(END, "check_record_count", file_path="sales.csv", fields={}, count=3)
    assert ask(END, "check_record_count", file_path="shop.db", fields={}, within="customers", count=2)
    assert ask(END, "check_record_count", file_path="sales.csv", fields={"region": "East"}, count=0)
    assert not ask(END, "check_record_count", file_path="sales.csv", fields={"region": "West"}, count=0)
    assert not ask(END, "check_record_count", file_path="gone.csv", fields={}, count=0)


def test_a_field_has_its_whole_value() -> None:
    assert ask(END, "check_field", file_path="config.json", field="editor/theme", value="dark")
    assert ask(END, "check_field", file_path="config.json", field="people/p1/city", value="London")
    assert not ask(END, "check_field", file_path="config.json", field="editor/theme", value="dar")
    assert not ask(END, "check_field", file_path="config.json", field="theme", value="dark")
    assert ask(END, "check_field", file_path="sales.csv", field="rows/South/amount", value="20")


def test_a_single_word_of_the_whole_text_does_not_pass() -> None:
    assert ask(END, "check_clipboard_text", text="Total,1250\n")
    assert not ask(END, "check_clipboard_text", text="Total")
    assert not ask(END, "check_clipboard_text", text="total,1250")
    assert ask(END, "check_file_text", file_path="sales.csv", text=SALES.strip().replace("\n", "\r\n"))
    assert not ask(END, "check_file_text", file_path="sales.csv", text="North,10")


def test_a_copy_holds_what_the_source_held_at_the_start() -> None:
    start = evidence(
        {"a.txt": "one two three\n", "log.txt": "old\n"}, clipboard=ClipboardState(text="pasted")
    )
    end = evidence(
        {"b.txt": "one two three\n", "log.txt": "old\npasted\n"}, clipboard=ClipboardState(text="x")
    )
    assert ask(end, "check_copied", start, source="a.txt", target="b.txt")
    assert not ask(end, "check_copied", start, source="a.txt", target="log.txt")
    assert ask(end, "check_copied", start, source="clipboard", target="log.txt", whole=False)
    assert not ask(end, "check_copied", start, source="clipboard", target="log.txt")
    assert not ask(end, "check_copied", start, source="clipboard", target="b.txt", whole=False)
    assert not ask(end, "check_copied", start, source="missing.txt", target="b.txt")
    copied = end.model_copy(update={"clipboard": ClipboardState(text="one two three")})
    assert ask(copied, "check_copied", start, source="a.txt", target="clipboard")
    assert not ask(end, "check_copied", start, source="a.txt", target="clipboard")
    flooded = end.model_copy(update={"clipboard": ClipboardState(text="a" * 300_000)})
    assert not ask(flooded, "check_copied", start, source="a.txt", target="clipboard")


def test_a_file_that_stands_as_its_hash_among_other_text_was_copied_there() -> None:
    picture = FileState(path="a.png", size=9, sha256="ab" * 32, text=None)
    mail = FileState(path="mail.json", size=80, sha256="cd" * 32, text=f'{{"sha256": "{"ab" * 32}"}}')
    start, end = evidence({}), evidence({})
    start = start.model_copy(update={"files": (picture,)})
    end = end.model_copy(update={"files": (picture, mail)})
    place = {"source": "a.png", "target": "mail.json"}
    assert ask(end, "check_copied", start, **place, whole=False)
    assert not ask(end, "check_copied", start, **place)
    other = mail.model_copy(update={"text": '{"sha256": "ef"}'})
    assert not ask(end.model_copy(update={"files": (other,)}), "check_copied", start, **place, whole=False)
    large = FileState(path="mail.json", size=90_000, sha256=picture.sha256, text="a" * 65_536, truncated=True)
    assert ask(end.model_copy(update={"files": (large,)}), "check_copied", start, **place, whole=False)


def test_an_empty_source_is_never_copied() -> None:
    start, end = evidence({"a.txt": ""}), evidence({"a.txt": "", "b.txt": ""})
    assert not ask(end, "check_copied", start, source="a.txt", target="b.txt")
    assert not ask(end, "check_copied", start, source="clipboard", target="b.txt", whole=False)


def test_imported_records_are_all_in_the_table() -> None:
    start = evidence({"sales.csv": SALES, "shop.db": SHOP})
    before = evidence({"sales.csv": SALES, "shop.db": SHOP.partition('INSERT INTO "sales"')[0]})
    assert ask(
        start, "check_records_copied", before, source="sales.csv", target="shop.db", target_within="sales"
    )
    assert not ask(
        start, "check_records_copied", start, source="sales.csv", target="shop.db", target_within="sales"
    )
    less = evidence({"shop.db": SHOP.replace("('South', 20)", "('South', 21)")})
    assert not ask(
        less, "check_records_copied", start, source="sales.csv", target="shop.db", target_within="sales"
    )
    row = "INSERT INTO \"sales\" VALUES('South', 20);\n"
    assert row in SHOP
    twice = evidence({"shop.db": SHOP.replace(row, row * 2)})
    place = {"source": "sales.csv", "target": "shop.db", "target_within": "sales"}
    assert ask(twice, "check_records_copied", before, **place), "later work may add another one"
    alone = before.model_copy(update={"files": before.files[:1]})
    assert not ask(twice, "check_records_copied", alone, **place), "a record came twice"
    assert not ask(
        start, "check_records_copied", start, source="sales.csv", target="shop.db", target_within="customers"
    )
    exported = evidence(
        {
            "out.json": (
                '[{"id": 1, "name": "Ada", "city": "London"}, {"id": 2, "name": "Grace", "city": "New York"}]'
            )
        }
    )
    assert ask(
        exported,
        "check_records_copied",
        start,
        source="shop.db",
        source_within="customers",
        target="out.json",
    )


def test_records_that_share_a_field_alone_are_not_copied() -> None:
    start = evidence({"shop.db": SHOP})
    other = evidence({"out.json": '[{"id": 1, "total": "7"}, {"id": 2, "total": "8"}]'})
    assert not ask(
        other, "check_records_copied", start, source="shop.db", source_within="customers", target="out.json"
    )


def test_comparing_with_the_start_is_refused_where_the_start_is_unknown() -> None:
    with pytest.raises(CheckUnavailableError, match="at the start"):
        ask(END, "check_copied", source="sales.csv", target="x.csv")


def test_arguments_have_the_declared_types() -> None:
    with pytest.raises(CheckMisusedError, match=r"dict\[str, str\] as 'fields', not list"):
        ask(END, "check_record", file_path="sales.csv", fields=["North"])
    with pytest.raises(CheckMisusedError, match="other things than text"):
        ask(END, "check_record", file_path="sales.csv", fields={"amount": 10})
    with pytest.raises(CheckMisusedError, match=r"dict\[str, str\] \| None as 'belonging_to', not bool"):
        ask(END, "check_records_copied", END, source="a", target="b", belonging_to=True)


def test_a_check_with_a_type_that_checks_cannot_have_is_refused_when_it_is_declared() -> None:
    def answers_nothing(scene: Scene, text: "str") -> "None": ...
    def takes_bytes(scene: Scene, content: "bytes") -> "bool": ...  # type: ignore[empty-body]
    def counts(scene: Scene, text: "str | None" = None) -> "int": ...  # type: ignore[empty-body]

    with pytest.raises(CheckDeclarationError, match="answers with None"):
        check("files")(answers_nothing)  # type: ignore[arg-type]
    with pytest.raises(CheckDeclarationError, match="takes bytes"):
        check("files")(takes_bytes)
    check("files")(counts)
    assert "counts" not in checks()


@pytest.mark.parametrize(
    ("held", "number", "within", "expected"),
    [
        ('{"id": 1, "name": "Ada", "city": "London"}', 1, "customers", True),
        ('{"id": 1, "name": "Ada", "city": "London"}', 2, "customers", False),
        ('{"id": 2, "name": "Grace", "city": "New York"}', 2, "customers", True),
        ('{"id": 1, "name": "Ada"}', 1, "customers", False),
        ('[{"id": 1, "name": "Ada", "city": "London"}]', 1, "customers", True),
        ('[{"id": 1, "name": "Ada", "city": "London"}, {"id": 2}]', 1, "customers", False),
        ('{"id": 1, "name": "Ada", "city": "London"}', 0, "customers", False),
        ('{"region": "West", "amount": 30}', 1, "sales", True),
        ("", 1, "sales", False),
    ],
)
def test_one_record_is_known_by_its_place(held: str, number: int, within: str, expected: bool) -> None:
    end = evidence(FILES, clipboard=ClipboardState(text=held))
    named = {"source": "shop.db", "target": "clipboard", "number": number, "source_within": within}
    assert ask(end, "check_one_record_copied", start=END, **named) is expected


def test_the_first_row_is_not_known_where_only_the_newest_were_kept() -> None:
    cut = evidence(FILES | {"shop.db": SHOP.replace("2 rows", "900 rows")})
    end = evidence(FILES, clipboard=ClipboardState(text='{"id": 1, "name": "Ada", "city": "London"}'))
    named = {"source": "shop.db", "target": "clipboard", "number": 1, "source_within": "customers"}
    assert ask(end, "check_one_record_copied", start=cut, **named) is False


FLOWS = (
    '[{"id": "b1", "label": "Sales"}, {"id": "b2", "z": "b1", "name": "Run"}, {"id": "c1", "label": "Ideas"}]'
)


@pytest.mark.parametrize(
    ("end", "label", "expected"),
    [
        ('[{"id": "c1", "label": "Ideas"}]', "Sales", True),
        (FLOWS.replace("Sales", "Turnover"), "Sales", True),
        (FLOWS, "Sales", False),
        ('[{"id": "c1", "label": "Ideas"}]', "Alarm", False),
        ('[{"id": "b2", "z": "b1", "name": "Run"}, {"id": "c1", "label": "Ideas"}]', "Sales", False),
    ],
)
def test_a_record_is_gone_that_was_there_with_all_that_belonged_to_it(
    end: str, label: str, expected: bool
) -> None:
    start, now = evidence({"flows.json": FLOWS}), evidence({"flows.json": end})
    named = {"file_path": "flows.json", "fields": {"label": label}}
    assert ask(now, "check_record_gone", start=start, **named) is expected


def test_nothing_is_gone_from_a_file_that_is_not_there() -> None:
    start = evidence({"flows.json": FLOWS})
    named = {"file_path": "flows.json", "fields": {"label": "Sales"}}
    assert ask(evidence({}), "check_record_gone", start=start, **named) is False
    assert ask(start, "check_record_gone", start=evidence({}), **named) is False


def test_how_a_heading_is_marked_does_not_matter_in_markdown_only() -> None:
    underlined = "Trip plan\n=========\n\nBy night train\n"
    wanted = "# Trip plan\nBy night train"
    assert ask(evidence({"plan.md": underlined}), "check_file_text", file_path="plan.md", text=wanted)
    assert not ask(evidence({"plan.txt": underlined}), "check_file_text", file_path="plan.txt", text=wanted)
    other = underlined.replace("=========", "---------")
    assert not ask(evidence({"plan.md": other}), "check_file_text", file_path="plan.md", text=wanted)


def test_blank_lines_of_a_document_are_its_layout() -> None:
    text = {"content": "document"}
    for said, expected in (
        ("\nTrip plan\n\nBy night train\n", True),
        ("Trip plan\n By night train", False),
        ("Trip plan By night train", False),
        ("Trip plan\nBy night train\nor by ship", False),
    ):
        (file,) = evidence({"a.odt": said}).files
        end = evidence({}).model_copy(update={"files": (file.model_copy(update=text),)})
        wanted = "Trip plan\nBy night train"
        assert ask(end, "check_file_text", file_path="a.odt", text=wanted) is expected


def test_a_pdf_document_has_no_blank_lines_and_no_spaces_around_lines() -> None:
    page = evidence({"note.pdf": "Notice\n# Report\nSales grew\n"})
    pdf = page.model_copy(update={"files": (page.files[0].model_copy(update={"content": "pdf"}),)})
    for shown, right in ((pdf, True), (page, False)):
        text = "Notice\n# Report\n\nSales grew\n"
        assert ask(shown, "check_file_text", file_path="note.pdf", text=text) is right
    assert ask(pdf, "check_file_text", file_path="note.pdf", text="Notice\n  # Report\nSales grew ")
    assert not ask(pdf, "check_file_text", file_path="note.pdf", text="Notice\nSales grew")
