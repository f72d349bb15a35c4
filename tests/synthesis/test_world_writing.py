"""A model writes a kind of world: what is missing or wrong is told to it, and only what passes everything is
taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from taskloom.cli.main import main
from taskloom.flows.write_world import problems_of
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.prompts.world_writer_input import WorldWriterInput
from taskloom.resources.reading.worlds import WorldRules, leaves, load_rules, load_world
from taskloom.synthesis.world_writing.world_writing import WrittenWorld, write_world
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.model_clients.requests import KEY
from tests.servers.models.behaviour import WireCall
from tests.servers.models.server import LocalModelServer
from tests.servers.models.threaded import in_a_thread
from tests.synthesis.models import TestModels


def reply(rules: WorldRules, without: tuple[str, ...] = (), **changes: str) -> dict[str, JsonValue]:
    """What a model would answer to get `rules`, with some places left out or otherwise."""
    texts = {".".join(place): text for place, text in leaves(rules)}
    texts |= {name.replace("__", "."): text for name, text in changes.items()}
    return {
        "owner": "the mill",
        "title": "the mill of {Person1}",
        "description": "A mill that grinds for the bakers of {City1}.",
        "draws": [{"name": name, "words": list(words)} for name, words in rules.draws.items()],
        "places": [{"name": name, "value": text} for name, text in texts.items() if name not in without],
    }


async def written(*replies: JsonValue, rounds: int = 4) -> tuple[WrittenWorld, list[WorldWriterInput]]:
    models = TestModels({}, scripted={ModelRole.WORLD_WRITER: [json.dumps(item) for item in replies]})
    done = await write_world(
        "mill",
        "a water mill",
        load_rules(),
        load_rules("bakery"),
        models=models,
        check=lambda rules: problems_of(rules, None),
        rounds=rounds,
    )
    return done, [call.question for call in models.calls[ModelRole.WORLD_WRITER]]


BAKERY = load_rules("bakery")
PLACES = [".".join(place) for place, _ in leaves(load_rules()) if place[-1] != "phrase"]


async def test_a_right_answer_is_taken_at_once() -> None:
    done, asked = await written(reply(BAKERY))
    assert done.rules is not None and done.rounds == 1
    assert done.rules.kind == "mill" and done.rules.groups == BAKERY.groups
    shown = asked[0].rendered()
    assert all(f"- {name}: " in shown.system for name in PLACES)
    assert '"Groceries", for example "{Bread} order"' in shown.system
    assert "mill: a water mill" in shown.user and "wrong" not in shown.user


async def test_missing_places_are_named_and_a_second_answer_may_give_only_these() -> None:
    gone = ("notes.packing.title", "labels.tags.home")
    rest: JsonValue = {
        "places": [
            {"name": "notes.packing.title", "value": "Van list"},
            {"name": "labels.tags.home", "value": "kitchen"},
        ]
    }
    done, asked = await written(reply(BAKERY, without=gone), rest)
    assert done.rules is not None and done.rounds == 2
    assert asked[1].missing == gone
    assert "notes.packing.title, labels.tags.home" in asked[1].rendered().user
    assert asked[0].rendered().system == asked[1].rendered().system


async def test_what_does_not_pass_is_told_with_its_place() -> None:
    wrong = reply(BAKERY, notes__packing__title="{Breadth} list", notes__nothing__title="Lost")
    done, asked = await written(
        wrong, {"places": [{"name": "notes.packing.title", "value": "Groceries"}]}, reply(BAKERY)
    )
    assert done.rules is not None and done.rounds == 3
    assert asked[1].feedback[0] == "notes.nothing.title: there is no such place"
    assert asked[1].feedback[1].startswith("notes.packing.title: the placeholder 'Breadth' is unknown")
    assert any("'Groceries' still has its name of the first world" in item for item in asked[2].feedback)


async def test_what_never_passes_is_not_taken_and_the_last_problems_are_told() -> None:
    wrong = reply(BAKERY, texts__meeting__file="Tasting Plan.txt")
    done, _ = await written(wrong, wrong, rounds=2)
    assert done.rules is None and done.rounds == 2
    assert any("texts.meeting.file" in problem for problem in done.problems)


def test_the_command_stores_what_a_talkative_model_wrote_and_seeds_draw_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    asked: list[str] = []

    def talkative(call: WireCall) -> str:
        asked.append(call.turns[-1])
        if len(asked) == 1:
            given = reply(BAKERY, without=("notes.packing.title",))
            return (
                f"Here is your world!\n\n```json\n{json.dumps(given, indent=1)}\n```\nLet me know if you need"
                " more."
            )
        return 'Sorry, I forgot one.\n{"places": [{"name": "notes.packing.title", "value": "Cart list"}]}'

    with (
        in_a_thread(LocalModelServer(answerer=talkative, key=KEY)) as server,
        pytest.raises(SystemExit) as ended,
    ):
        main(
            [
                "worlds",
                "new",
                "mill",
                "--about=a water mill",
                f"--data={tmp_path}",
                f"--catalog={tmp_path / 'catalog'}",
                (
                    f"--set=models.default={{provider: openai, model: m, base_url: '{server.url}',"
                    " api_key_variable: TEST_KEY}"
                ),
            ]
        )
    shown = capsys.readouterr()
    assert not ended.value.code, shown.err
    assert "in 2 rounds" in shown.out
    assert load_world("mill-1", tmp_path / "catalog").terms["notes.packing.title"] == "Cart list"
    assert load_world("mill-1", tmp_path / "catalog") != load_world("mill-2", tmp_path / "catalog")
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert {(call.role, call.stage) for call in ledger.calls()} == {(ModelRole.WORLD_WRITER, "worlds")}


def test_without_a_model_the_command_says_what_to_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["worlds", "new", "mill", "--about=a mill", f"--data={tmp_path}"])
    assert ended.value.code
    assert "name a model for the role world_writer" in capsys.readouterr().err


def test_shipped_kinds_are_listed_shown_and_checked(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["worlds"], ["worlds", "show", "bakery-3"], ["worlds", "check", "bakery"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert not ended.value.code
    shown = capsys.readouterr().out
    assert "bakery       A bakery with two ovens" in shown
    assert "notes.packing.title" in shown and "bakery passes" in shown
