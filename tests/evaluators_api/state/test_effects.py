"""Effects name what a performance changed, and only that; essential ones are those that all performances
share."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.evaluators_api.state.editing import replaced, undone
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import divide
from taskloom.evaluators_api.state.operators import moved
from taskloom.evaluators_api.state.templates import filled, templated, templated_path
from taskloom.resources.noise import NoisePlace
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState
from tests.evaluators_api.state.evidence import clipboard, evidence
from tests.shared_work import examples

SALES = "region,amount\nNorth,10\nSouth,20\nWest,30\n"


def _only(found: tuple[Effect, ...]) -> Effect:
    assert len(found) == 1, [item.describe() for item in found]
    return found[0]


def test_a_changed_field_is_one_effect_in_terms_of_the_parameters() -> None:
    start = evidence({"Documents/sales.csv": SALES})
    end = evidence({"Documents/sales.csv": SALES.replace("South,20", "South,99")})
    found = _only(effects(start, end, {"csv_path": "Documents/sales.csv", "region": "South", "amount": "99"}))
    assert (found.kind, found.address, found.before, found.after) == (
        "changed",
        ("rows", "South", "amount"),
        "20",
        "99",
    )
    assert found.container_template == "{csv_path}"
    assert found.address_template == ("rows", "{region}", "amount")
    assert found.after_template == "{amount}"


def test_same_states_have_no_effects_and_what_was_measured_as_noise_is_left_out() -> None:
    log = ".applications/x/logs/a.txt"
    start = evidence({"a.txt": "x\n", log: "1\n"})
    end = evidence({"a.txt": "x\n", log: "1\n2\n"})
    grows = NoisePlace(container=log, address=("*",), kind="added")
    assert effects(start, start, {}) == ()
    assert [item.container for item in effects(start, end, {})] == [log]
    assert effects(start.model_copy(update={"noise": (grows,)}), end, {}) == ()
    emptied = evidence({"a.txt": "x\n", log: ""})
    assert effects(start.model_copy(update={"noise": (grows,)}), emptied, {})


def test_a_new_file_is_one_effect_followed_by_its_content_and_names_its_source() -> None:
    start = evidence({"Documents/sales.csv": SALES})
    end = evidence({"Documents/sales.csv": SALES, "copy.csv": SALES})
    found = effects(start, end, {"source": "Documents/sales.csv"})
    assert found[0].address == () and found[0].kind == "added" and found[0].format == "delimited"
    assert (found[0].source, found[0].source_template) == ("Documents/sales.csv", "{source}")
    assert ("rows", "North", "amount") in {item.address for item in found}


def test_slots_and_folders_have_effects() -> None:
    start = evidence({}, window_title="Home", directories=("a",))
    end = evidence({}, window_title="Notes", directories=("b",), clipboard=clipboard("Total"))
    found = {(item.area, item.container, *item.address): item.kind for item in effects(start, end, {})}
    assert found == {
        ("directory", "a"): "removed",
        ("directory", "b"): "added",
        ("clipboard", "", "text"): "added",
        ("window", "", "title"): "changed",
    }


def test_a_picture_that_changed_is_one_effect() -> None:
    def picture(content: bytes) -> Evidence:
        state = FileState(path="a.png", size=1, sha256=hashlib.sha256(content).hexdigest())
        return Evidence(step=0, files=(state,))

    start, end = picture(b"1"), picture(b"2")
    assert _only(effects(start, end, {})).address == ()


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("sales.csv", SALES, SALES.replace("North,10\n", "").replace("30", "31") + "East,5\n"),
        ("a.txt", "one\ntwo\nthree\n", "zero\none\nTwo\n"),
        ("a.json", '{"a": 1, "b": [1, 2]}', '{"a": 2, "c": "x", "b": [1, 2, 3]}'),
        ("a.xml", "<r><a>1</a><b x='1'/></r>", "<r><a>2</a><b x='3'/><c>new</c></r>"),
        ("a.tid", "title: A\ntags: x\n\nold\n", "title: B\nnew: y\n\nold\nmore\n"),
        ("a.yaml", "a: x\nb: \nc:\n- 1\n", "a:\nb: y\nd: z\nc:\n- 1\n-\n"),
        ("a.md", "---\na: x\nb:\n---\n\nold\n", "---\na:\nc: y\n---\n\n\nold\nmore\n"),
        (
            "shop.db",
            "INSERT INTO \"t\" VALUES(1, 'a');\n",
            "INSERT INTO \"t\" VALUES(2, 'b');\nINSERT INTO \"t\" VALUES(1, 'c');\n",
        ),
    ],
)
def test_undoing_every_effect_one_after_the_other_leads_back_to_the_start(
    path: str, before: str, after: str
) -> None:
    start, state = evidence({path: before}), evidence({path: after})
    for _ in range(20):
        left = effects(start, state, {})
        if not left:
            break
        edited = next(item for item in (undone(start, state, effect) for effect in left) if item is not None)
        assert len(effects(start, edited, {})) < len(left)
        state = edited
    assert effects(start, state, {}) == ()


def test_an_undone_effect_is_gone_and_the_others_stay() -> None:
    start = evidence({"sales.csv": SALES})
    end = evidence({"sales.csv": SALES.replace("20", "21").replace("30", "31")})
    first, second = effects(start, end, {})
    edited = undone(start, end, first)
    assert edited is not None
    assert effects(start, edited, {}) == (second,)
    assert edited.files[0].text == SALES.replace("30", "31")
    assert edited.files[0].sha256 == hashlib.sha256((edited.files[0].text or "").encode()).hexdigest()


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20))
@settings(max_examples=examples(16, 50), deadline=None)
def test_a_replaced_value_is_the_effect_of_the_edit(value: str) -> None:
    start = evidence({"sales.csv": SALES})
    end = evidence({"sales.csv": SALES.replace("20", "21")})
    effect = _only(effects(start, end, {}))
    edited = replaced(start, end, effect, value)
    assert edited is not None
    assert [item.after for item in effects(start, edited, {})] == ([] if value == "20" else [value])


def test_a_copied_picture_can_be_missing_and_no_other_one() -> None:
    start, end = evidence({}), evidence({}, clipboard=ClipboardState(image_sha256="a"))
    effect = _only(effects(start, end, {}))
    assert undone(start, end, effect) == start
    assert replaced(start, end, effect, "b") is None, "no check could tell the pictures apart"


def test_a_value_moves_to_its_siblings() -> None:
    start = evidence({"sales.csv": SALES})
    end = evidence({"sales.csv": SALES.replace("20", "21")})
    texts = [item.evidence.files[0].text for item in moved(start, end, _only(effects(start, end, {})))]
    assert SALES.replace("10", "21") in texts and SALES.replace("30", "21") in texts
    assert SALES.replace("20", "21") not in texts


def test_effects_that_only_some_performances_have_are_incidental() -> None:
    def performed(name: str, stamp: str, *extra: str) -> tuple[tuple[Effect, ...], dict[str, str]]:
        parameters = {"title": name}
        text = f"title: {name}\nmodified: {stamp}\n" + "".join(extra)
        return effects(evidence({}), evidence({f"{name}.tid": text}), parameters), parameters

    performances = [
        performed("Shopping", "20261122081519669"),
        performed("Holiday", "20261122081733123", "tags: x\n"),
        performed("Shopping", "20261122081999999"),
    ]
    names = [{item.address for item in found.essential} for found in divide(performances)]
    assert names[0] == {(), ("title",)} and names[2] == names[0]
    assert ("modified",) in {item.address for item in divide(performances)[0].incidental}


def test_a_field_of_a_new_row_is_undone_by_emptying_it() -> None:
    start, end = evidence({"sales.csv": SALES}), evidence({"sales.csv": SALES + "East,5\n"})
    field = next(item for item in effects(start, end, {}) if item.address == ("rows", "East", "amount"))
    edited = undone(start, end, field)
    assert edited is not None and edited.files[0].text == SALES + "East,\n"


def test_a_number_that_is_the_key_of_a_row_by_chance_does_not_name_it() -> None:
    def weighed(number: str, weight: str) -> tuple[str, ...]:
        rows = {"2": "1", "5": "1"}
        text = 'CREATE TABLE "person"("id" PRIMARY KEY, "weight"); -- 2 rows\n'
        start, end = (
            text + "".join(f'INSERT INTO "person" VALUES({key}, {value});\n' for key, value in held.items())
            for held in (rows, rows | {number: weight})
        )
        found = effects(evidence({"a.db": start}), evidence({"a.db": end}), {"weight": weight})
        return _only(found).address_template

    assert weighed("2", "2") == weighed("5", "3") == ("person", "rows", "*", "weight")


@pytest.mark.parametrize(
    ("title", "path", "other", "elsewhere"),
    [
        (
            "Holiday plans",
            "app/holiday-plans/buckets.json",
            "Été: the house",
            "app/ete-the-house/buckets.json",
        ),
        ("Holiday plans", "app/holiday_plans.md", "New kitchen", "app/new_kitchen.md"),
        ("Holiday", "app/holiday/a.md", "New kitchen", "app/new-kitchen/a.md"),
    ],
)
def test_a_place_named_by_the_slug_of_a_value_is_elsewhere_for_another_value(
    title: str, path: str, other: str, elsewhere: str
) -> None:
    found = [
        next(
            item
            for item in effects(evidence({}), evidence({place: "x"}), {"title": value})
            if not item.address
        )
        for value, place in ((title, path), (other, elsewhere))
    ]
    assert found[0].key == found[1].key
    assert filled(found[0].container_template, {"title": other}) == elsewhere


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("?!", "app/-/a.md"),
        ("?!", "app//a.md"),
        ("", "app/.md"),
        ("A b", "app/a-b-c/a.md"),
        ("1.50", "app/1-50/a.md"),
        ("Plans", "Plans/plans/a.md"),
    ],
    ids=["no letters", "an empty part", "empty", "a part of a name", "a number", "as it is elsewhere"],
)
def test_what_is_no_slug_of_a_value_stays(value: str, path: str) -> None:
    assert templated_path(path, {"title": value}) == templated(path, {"title": value})
