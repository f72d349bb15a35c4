"""Worlds: every kind names the same things, and a catalogue entry says them in the words of the world it is
put into."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.resources.applications import BrowserState
from taskloom.resources.assets import content_of
from taskloom.resources.errors import CatalogEntryInvalidError, UnknownCatalogEntryError
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.resources.reading.translation import (
    Translation,
    WorldlyApplications,
    applications_in,
    parameters_in,
    world_problems,
    world_records,
    worlds_of,
)
from taskloom.resources.reading.worlds import Occasion, load_occasions, load_rules, load_world, world_kinds
from tests.shared_work import examples

APPLICATIONS = load_applications()
CATEGORIES = load_resource_categories()
KINDS = world_kinds()


def _in(world: str) -> WorldlyApplications:
    return WorldlyApplications(APPLICATIONS, [world])


def test_there_are_six_kinds_of_worlds() -> None:
    assert set(KINDS) >= {"bakery", "household", "research", "shop", "software", "club"}


def test_the_same_name_gives_the_same_world_and_another_seed_another() -> None:
    assert load_world("bakery-3") == load_world("bakery-3")
    changed = [
        place
        for place, text in load_world("bakery-3").terms.items()
        if load_world("bakery-4").terms[place] != text
    ]
    assert len(changed) > 60


@given(st.integers(0, 10_000))
@settings(max_examples=examples(15, 50), deadline=None)
def test_the_season_of_a_world_is_that_of_its_month(seed: int) -> None:
    terms = load_world(f"bakery-{seed}").terms
    season = terms["texts.ideas.file"].partition("_")[0]
    month = terms["texts.agenda.file"].removeprefix("agenda_").removesuffix(".txt")
    months = {
        "winter": {"january", "february"},
        "spring": {"march", "april", "may"},
        "summer": {"june", "july", "august"},
        "autumn": {"september", "october"},
    }
    assert month in months[season]


def test_a_csv_file_is_called_what_its_table_is_called() -> None:
    world = load_world("bakery-1")
    table = world.terms["tables.sales.name"]
    assert world.phrase(f"Documents/{table}.csv") == world.phrase(table) != ""
    assert world.phrase("Downloads/cafes-export.csv") == "the list of the cafes"
    assert world.phrase(f"Documents/{table}.txt") == ""


@given(st.sampled_from(KINDS), st.integers(0, 10_000))
@settings(max_examples=examples(8, 25), deadline=None)
def test_no_world_calls_two_things_by_one_name(kind: str, seed: int) -> None:
    world = load_world(f"{kind}-{seed}")
    first = load_world("")
    assert world.terms.keys() == first.terms.keys()
    assert world.labels.keys() == first.labels.keys()
    assert len(set(world.terms.values())) == len(world.terms)


@pytest.mark.parametrize("kind", KINDS)
def test_every_shipped_kind_passes_what_a_written_one_must(kind: str) -> None:
    assert world_problems(load_rules(kind), load_rules(), APPLICATIONS, CATEGORIES) == ()


def spoilt(**changes: str) -> tuple[str, ...]:
    """What is wrong with the bakery once these places say something else."""
    rules = load_rules("bakery")
    groups = {
        group: {name: dict(item) for name, item in things.items()} for group, things in rules.groups.items()
    }
    for place, text in changes.items():
        group, thing, attribute = place.split("__")
        groups[group][thing][attribute] = text
    return world_problems(rules.model_copy(update={"groups": groups}), load_rules(), APPLICATIONS, CATEGORIES)


def test_what_a_kind_may_not_say_is_told_with_its_place() -> None:
    (unknown,) = spoilt(notes__packing__title="{Breadth} list")
    assert unknown.startswith("notes.packing.title: the placeholder 'Breadth' is unknown")
    (form,) = spoilt(texts__meeting__file="Tasting.txt")
    assert form.startswith("texts.meeting.file: 'Tasting.txt' must be a file name in lower case")
    (twice,) = spoilt(
        notes__packing__title="Costs {Month}",
        notes__budget__title="Costs {Month2}",
        notes__garden__title="Costs May",
    )[:1]
    assert "is already the value of" in twice


def test_names_that_only_some_worlds_share_are_found() -> None:
    found = spoilt(notes__packing__title="Market {Day2}", notes__trains__title="Market Friday")
    assert any("'Market Friday' is already the value of" in problem for problem in found)
    assert spoilt(images__logo__text="{First2} and {First3}") == ()


def test_a_name_of_the_first_world_is_told() -> None:
    found = spoilt(texts__ideas__file="ideas.txt")
    assert any("'Documents/ideas.txt' still has its name of the first world" in problem for problem in found)


def test_draws_need_words() -> None:
    rules = load_rules("bakery").model_copy(update={"draws": {"bread": (), "Cake": ("plum",)}})
    found = world_problems(rules, load_rules(), APPLICATIONS, CATEGORIES)
    assert any(problem.startswith("draws.bread: needs words") for problem in found)


def test_fixtures_prepared_files_and_parameters_speak_of_the_same_things() -> None:
    world = load_world("bakery-1")
    there = _in("bakery-1").in_world("bakery-1")
    title, table = world.terms["notes.groceries.title"], world.terms["tables.customers.name"]
    notes = there["tiddlywiki"]
    assert f"wiki/tiddlers/{title}.tid" in notes.preparation.files
    assert title in {item.value for item in notes.fixtures}
    assert title in {
        values["note_title"]
        for item in notes.example_subtasks
        if item.name == "extend_note"
        for values in item.parameter_sets
    }
    shop = there["sqlite_web"]
    statements = content_of(shop.preparation.files["shop.sql"], shop).decode()
    assert f"CREATE TABLE {table} " in statements and f"INSERT INTO {table} " in statements
    assert "customers" not in statements.replace("customer_id", "")
    assert table in shop.manual
    ticket = world.terms["tickets.login.title"]
    seed = content_of(there["trac"].preparation.files["seed.py"], there["trac"]).decode()
    assert f'"{ticket}"' in seed and "Version 2.1" not in seed
    compile(seed, "seed.py", "exec")


def test_one_path_has_one_content_in_all_applications_of_a_world() -> None:
    contents: dict[str, bytes] = {}
    for application in _in("club-2").in_world("club-2").values():
        for fixture in application.fixtures:
            if fixture.content:
                content = content_of(fixture.content, application)
                assert contents.setdefault(fixture.value, content) == content
                if fixture.value.endswith((".json", ".excalidraw")):
                    json.loads(content)


def test_words_of_code_and_placeholders_stay() -> None:
    there = _in("software-1").in_world("software-1")
    settings_file = there["nodered"].preparation.files["settings.js"]
    assert settings_file == APPLICATIONS["nodered"].preparation.files["settings.js"]
    assert "{home}/Documents" in there["fava"].preparation.files["ledger.beancount"]
    assert there["webamp"].fixtures == APPLICATIONS["webamp"].fixtures


def test_a_subtask_has_instances_that_differ_in_every_world() -> None:
    worlds = [f"{kind}-{seed}" for kind in KINDS for seed in range(5)]
    applications = WorldlyApplications(APPLICATIONS, worlds)
    values = {
        json.dumps(parameters_in(applications, {"note_title": "Shopping", "text": "A new doormat"}, world))
        for world in worlds_of(applications)
    }
    assert len(values) > 25


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_called_like_a_folder_is_no_folder(kind: str) -> None:
    world = load_world(f"{kind}-1")
    values = {"text_path": "Documents/all_ideas.txt", "directory_path": "Documents/projects"}
    found = parameters_in(_in(f"{kind}-1"), {**values, "note_title": "all_ideas.txt"}, f"{kind}-1")
    assert found["note_title"] == world.terms["texts.ideas.longer"]
    assert found["text_path"] == f"Documents/{found['note_title']}"
    assert found["directory_path"] == world.terms["folders.projects.path"]


def test_what_a_thing_is_wanted_for_is_found_by_its_name_and_by_that_of_its_export() -> None:
    world = load_world("")
    assert (
        world.use("Documents/sales.csv") == world.use("Downloads/sales-export.csv") == "the quarterly review"
    )
    assert world.use("Groceries") == "the weekend shopping"
    assert world.use("Documents/unknown.csv") == ""


def test_the_things_of_a_world_are_wanted_for_occasions() -> None:
    world = load_world("bakery-1")
    meeting = world.use(world.terms["pages.handover.title"])
    budget, agenda = world.terms["tables.budget.name"], world.terms["texts.agenda.file"]
    assert world.common_occasions([f"Downloads/{budget}-export.csv", f"Documents/{agenda}"]) == (meeting,)
    assert world.common_occasions([world.terms["tables.inventory.name"], agenda]) == ()
    assert world.common_occasions(["Downloads/anything.zip", ""]) is None


@pytest.mark.parametrize("occasion", load_occasions(), ids=lambda occasion: occasion.name)
def test_an_occasion_names_things_that_every_world_has(occasion: Occasion) -> None:
    rules = load_rules()
    places = {f"{group}.{thing}" for group, things in rules.groups.items() for thing in things}
    places |= {f"labels.{group}.{name}" for group, names in rules.labels.items() for name in names}
    assert {occasion.words, *occasion.things} <= places


def test_a_use_has_a_form_that_every_opening_can_take() -> None:
    rules = load_rules("bakery")
    notes = rules.groups["notes"]
    for use in ("tax return", "the tax return, soon", "the flour and the gas", "The tax return"):
        spoilt = {**notes, "packing": {**notes["packing"], "use": use}}
        changed = rules.model_copy(update={"groups": {**rules.groups, "notes": spoilt}})
        problems = world_problems(changed, load_rules(), APPLICATIONS, CATEGORIES)
        assert any("an occasion or a piece of work" in text for text in problems), use
    lacking = {**notes, "packing": {key: text for key, text in notes["packing"].items() if key != "use"}}
    changed = rules.model_copy(update={"groups": {**rules.groups, "notes": lacking}})
    assert any(
        "lacks 'use'" in text for text in world_problems(changed, load_rules(), APPLICATIONS, CATEGORIES)
    )


def test_phrases_name_files_by_their_last_part() -> None:
    world = load_world("bakery-1")
    path = f"Documents/{world.terms['tables.sales.name']}"
    assert world.phrase(path).endswith("sales")
    assert world.phrase("Documents/nothing.txt") == ""


def test_plain_applications_are_in_the_first_world_only() -> None:
    assert worlds_of(APPLICATIONS) == ("",)
    assert applications_in(APPLICATIONS, "") is APPLICATIONS
    with pytest.raises(UnknownCatalogEntryError):
        applications_in(APPLICATIONS, "bakery-1")


def test_worlds_in_use_can_be_kept_and_used_again() -> None:
    assert world_records(APPLICATIONS) == world_records(WorldlyApplications(APPLICATIONS, [])) == ()
    kept = world_records(_in("bakery-1"))
    assert [item.name for item in kept] == ["", "bakery-1"]
    mill = kept[1].model_copy(update={"name": "mill-7"})
    again = WorldlyApplications(APPLICATIONS, (), known={"": kept[0], "mill-7": mill})
    assert again.in_world("mill-7")["trac"].fixtures == _in("bakery-1").in_world("bakery-1")["trac"].fixtures
    with pytest.raises(UnknownCatalogEntryError):
        again.in_world("mill-8")


@pytest.mark.parametrize("name", ["castle-1", "bakery", "office-1", "bakery-x"])
def test_an_unknown_world_names_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownCatalogEntryError, match="bakery-1"):
        load_world(name)


def test_a_users_kind_of_world_is_checked(tmp_path: Path) -> None:
    folder = tmp_path / "worlds"
    folder.mkdir()
    shipped = Path("resources/catalog/worlds/bakery.yaml").read_text()
    own = shipped.replace("kind: bakery", "kind: mill")
    (folder / "mill.yaml").write_text(own)
    assert load_world("mill-1", tmp_path).kind == "mill"
    other = tmp_path / "other"
    shutil.copytree(folder, other / "worlds")
    (other / "worlds" / "mill.yaml").write_text(
        own.replace("title: BakeryRules", "title: bakery rules").replace("{bread}", "{bred}", 1)
    )
    with pytest.raises(CatalogEntryInvalidError, match=r"mill\.yaml:\d+: .*'bred'"):
        load_world("mill-1", other)
    (other / "worlds" / "mill.yaml").write_text(own.replace("title: BakeryRules", "title: bakery rules"))
    with pytest.raises(CatalogEntryInvalidError, match=r"pages\.rules\.title: 'bakery rules' must be"):
        load_world("mill-2", other.resolve() / ".." / "other")


def test_fixtures_of_two_worlds_differ() -> None:
    there = _in("shop-1").in_world("shop-1")["trac"]
    here = APPLICATIONS["trac"]
    tickets = [
        {item.value for item in fixtures_of(entry, CATEGORIES) if item.category == "ticket_title"}
        for entry in (here, there)
    ]
    assert tickets[0].isdisjoint(tickets[1]) and len(tickets[0]) == len(tickets[1])


def test_what_the_browser_keeps_speaks_of_the_world() -> None:
    name, fixture = next(
        (name, item.fixtures[0].value)
        for name, item in APPLICATIONS.items()
        if item.has_worlds and item.fixtures and "/" in item.fixtures[0].value
    )
    state = BrowserState(
        local_storage={"recent": json.dumps({"files": [fixture]})}, cookies={"last": fixture}
    )
    entry = APPLICATIONS[name]
    entry = entry.model_copy(update={"launch": entry.launch.model_copy(update={"browser_state": state})})
    there = applications_in(WorldlyApplications({name: entry}, ["shop-1"]), "shop-1")[name]
    kept = there.launch.browser_state
    assert there.fixtures[0].value != fixture
    assert json.loads(kept.local_storage["recent"]) == {"files": [there.fixtures[0].value]}
    assert kept.cookies == {"last": there.fixtures[0].value}


@pytest.mark.parametrize("name", ["form.pdf", "sheet.xopp"])
def test_an_asset_that_is_no_text_is_the_same_in_every_world(name: str, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / name).write_bytes(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    entry = APPLICATIONS["xournalpp"]
    fixture = entry.fixtures[0].model_copy(update={"content": f"asset:{name}"})
    entry = entry.model_copy(update={"fixtures": (fixture,), "catalog_folder": str(tmp_path)})
    known = WorldlyApplications({**APPLICATIONS, "xournalpp": entry}, ["household-1"])
    [there] = applications_in(known, "household-1")["xournalpp"].fixtures
    assert there.content == fixture.content


@pytest.mark.parametrize("name", sorted(APPLICATIONS))
def test_every_curated_subtask_can_be_asked_for_at_an_occasion(name: str) -> None:
    world = load_world("")
    for example in APPLICATIONS[name].example_subtasks:
        assert any(world.common_occasions(values.values()) != () for values in example.parameter_sets)


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_has_the_name_of_the_text_and_not_of_a_picture_of_the_same_name(kind: str) -> None:
    world = load_world(f"{kind}-1")
    found = Translation(load_world(""), world)
    text = world.terms["markdown.plan.file"].removesuffix(".md")
    assert found.text("Documents/plan.odt") == f"Documents/{text}.odt"
    assert found.text("Documents/plan.svg") == f"Documents/{world.terms['images.plan.file']}"
