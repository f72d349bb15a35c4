"""Values that are all there, but not together."""

import json

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.mixing import exchanged, halved
from taskloom.taskgraph.records.evidence import Evidence
from tests.synthesis.recordings import file

SALES = "region,amount,unit\nNorth,10,kg\nSouth,20,t\n"
DATABASE = (
    'CREATE TABLE "staff"("id" PRIMARY KEY, "name", "town"); -- 1 row\n'
    "INSERT INTO \"staff\" VALUES(1,'Ann','Oslo');\n"
)
ENTRY = "INSERT INTO \"staff\" VALUES(2,'Ben','Bonn');\n"


def states(path: str, before: str | None, after: str) -> tuple[Evidence, Evidence]:
    start = () if before is None else (file(path, before),)
    return Evidence(step=0, files=start), Evidence(step=1, files=(file(path, after),))


def other(value: str) -> str:
    return f"{value}9"


def exchanges(path: str, before: str | None, after: str) -> list[str]:
    start, end = states(path, before, after)
    return [item.evidence.files[0].text or "" for item in exchanged(start, end, effects(start, end, {}))]


def halves(path: str, before: str | None, after: str) -> list[str]:
    start, end = states(path, before, after)
    return [item.evidence.files[0].text or "" for item in halved(start, end, effects(start, end, {}), other)]


def test_two_values_of_an_added_row_are_exchanged() -> None:
    assert exchanges("sales.csv", SALES, f"{SALES}West,30,l\n") == [
        f"{SALES}30,West,l\n",
        f"{SALES}West,l,30\n",
    ]


def test_values_of_one_column_are_exchanged_between_two_added_rows() -> None:
    found = exchanges("sales.csv", SALES, f"{SALES}West,30,l\nEast,40,l\n")
    assert f"{SALES}West,40,l\nEast,30,l\n" in found


def test_values_of_rows_without_a_name_are_not_exchanged_where_that_changes_their_order_only() -> None:
    before = "text\na\na\n"
    assert exchanges("notes.csv", before, f"{before}x\ny\n") == []


def test_equal_values_are_not_exchanged() -> None:
    assert exchanges("a.json", '{"k": 1}', '{"k": 1, "from": "x", "to": "x"}') == []


def test_changed_settings_are_exchanged() -> None:
    (text,) = exchanges("a.json", '{"from": "a", "to": "b"}', '{"from": "c", "to": "d"}')
    assert json.loads(text) == {"from": "d", "to": "c"}


def test_an_added_row_is_there_in_two_halves() -> None:
    assert halves("sales.csv", SALES, f"{SALES}West,30,l\n") == [f"{SALES}West9,30,l\nWest,309,l9\n"]


def test_the_halves_of_a_row_of_a_database_have_two_keys_and_are_counted() -> None:
    after = DATABASE.replace("1 row", "2 rows") + ENTRY
    start, end = states("app.db", DATABASE, after)
    wanted = [item for item in effects(start, end, {}) if item.address[-1:] in (("name",), ("town",))]
    (half,) = halved(start, end, wanted, lambda value: f"{value}9" if value.isalpha() else "7")
    text = half.evidence.files[0].text or ""
    assert "-- 3 rows" in text
    assert "VALUES(2,'Ben9','Bonn');" in text
    assert "VALUES(7,'Ben','Bonn9');" in text


def test_a_record_of_a_new_file_is_halved_too() -> None:
    (text,) = halves("flow.json", None, '[{"id": "n1", "type": "inject", "name": "Ping"}]')
    one, two = json.loads(text)
    assert one == {"id": "n19", "type": "inject", "name": "Ping"}
    assert two == {"id": "n1", "type": "inject9", "name": "Ping9"}


def test_what_has_a_single_value_has_no_halves() -> None:
    assert halves("sales.csv", "text\na\n", "text\na\nb\n") == []
    assert halves("notes.txt", "one\n", "one\ntwo words\n") == []
