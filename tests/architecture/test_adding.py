"""The table "Extending taskloom" of ARCHITECTURE.md is true: each row is tried in a temporary place."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, get_type_hints

import pytest

from taskloom.environments import platforms
from taskloom.evaluators_api import checks
from taskloom.evaluators_api.state import formats
from taskloom.model_clients import providers
from taskloom.model_clients.settings import ModelSettings, RetrySettings
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.schema import TABLE_NAMED
from tests.architecture.conftest import Add
from tests.architecture.test_dimensions import NAMED_IN

ROOT = Path(__file__).parents[2]
ROWS = dict(
    re.findall(
        r"^\| (an? [^|]+) \| ([^|]+) \|$",
        (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


def test_the_table_has_rows() -> None:
    assert len(ROWS) >= 15


@pytest.mark.parametrize("row", sorted(ROWS))
def test_the_places_that_a_row_names_exist(row: str) -> None:
    for place in re.findall(r"`([a-z_]+/[^` ]*)`", ROWS[row]):
        assert list(ROOT.glob(re.sub(r"<[a-z]+>", "*", place).rstrip("/"))), place


def test_an_application_is_one_file(tmp_path: Path) -> None:
    from taskloom.resources.reading.catalog import load_application, load_applications

    shipped = next(iter(load_applications().values()))
    (tmp_path / "applications").mkdir()
    source = (ROOT / "resources" / "catalog" / "applications" / f"{shipped.name}.yaml").read_text("utf-8")
    (tmp_path / "applications" / "novel.yaml").write_text(
        re.sub(rf"^name: {shipped.name}$", "name: novel", source, flags=re.MULTILINE), encoding="utf-8"
    )
    if (ROOT / "resources" / "catalog" / "assets").is_dir():
        shutil.copytree(ROOT / "resources" / "catalog" / "assets", tmp_path / "assets")
    assert load_application("novel", tmp_path).example_subtasks == shipped.example_subtasks


def test_a_kind_of_world_is_one_file(tmp_path: Path) -> None:
    from taskloom.resources.reading.worlds import load_world, world_kinds

    (tmp_path / "worlds").mkdir()
    source = (ROOT / "resources" / "catalog" / "worlds" / "club.yaml").read_text("utf-8")
    (tmp_path / "worlds" / "novel.yaml").write_text(
        source.replace("kind: club", "kind: novel"), encoding="utf-8"
    )
    assert "novel" in world_kinds(tmp_path)
    assert load_world("novel-4", tmp_path).name == "novel-4"


NOVEL_PLATFORM = """
from taskloom.environments.platforms.simulated.platform import simulated_applications
from taskloom.resources.record import Record

class NovelSettings(Record):
    seed_of_novelty: int = 0

SETTINGS = NovelSettings

def applications():
    brought = simulated_applications()[0]
    return (brought.model_copy(update={"name": "novel_notes", "platform": "novel"}),)

def missing(application, data_folder):
    return ""

def prepare(data_folder, say):
    return "nothing"

def install(applications, data_folder, say):
    return []

def create(settings):
    return ("made", settings.seed_of_novelty)
"""


def test_a_platform_is_one_folder(add: Add, tmp_path: Path) -> None:
    from taskloom.environments.lookup import PLATFORMS, create_environment
    from taskloom.flows.settings import load_settings
    from taskloom.flows.wiring import choose_applications

    add(platforms, "novel/__init__.py", "")
    add(platforms, "novel/platform.py", NOVEL_PLATFORM)
    assert "novel" in PLATFORMS
    made = create_environment("novel", {"seed_of_novelty": 7, "browser_executable": "/usr/bin/other"})
    assert made == ("made", 7)  # type: ignore[comparison-overlap]
    present, _ = choose_applications(load_settings(platform="novel", data=tmp_path))
    assert list(present) == ["novel_notes"]


def test_a_gesture_is_a_class_of_the_table() -> None:
    from taskloom.environments.aiming import InputLog, aim
    from taskloom.taskgraph.records.gestures import PointedGesture
    from taskloom.taskgraph.records.grounding import describe_control
    from taskloom.taskgraph.records.interaction import Control, Rectangle
    from taskloom.taskgraph.records.trajectory import TrajectoryStep
    from taskloom.warehouse.exporting.recordings import describe_step, paper_action, pyautogui_statements

    class NovelInput(PointedGesture):
        operation: Literal["novel_input"] = "novel_input"

        def events(self) -> tuple[tuple[str, str], ...]:
            return (("click", "novel"),)

        def statements(self, points: list[tuple[int, int]]) -> list[str]:
            return [f"novel{point}" for point in points]

        def _verb(self) -> str:
            return "poke"

    place = Rectangle(left=0, top=0, right=10, bottom=20)
    control = Control(label="1", text="Save", control_type="Button", rectangle=place)
    aimed = aim(NovelInput(control_label="1"), [control], (100, 100))  # type: ignore[arg-type]
    log = InputLog()
    log.note(aimed.action, aimed.target, [control], "wiki")
    step = TrajectoryStep.model_construct(  # type: ignore[call-arg]
        action=aimed.action, target=describe_control(control, [control]), target_rectangle=(0, 0, 10, 20)
    )
    assert [event.text for event in log.events] == ["novel"]
    assert describe_step(step) == "poke Button “Save”"
    assert paper_action(step)["function"] == "novel_input"
    assert pyautogui_statements(step) == ["novel(5, 10)"]


def test_a_compatible_provider_is_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from taskloom.model_clients.client import create_client

    monkeypatch.setenv("NOVEL_KEY", "not a key")
    settings = ModelSettings.model_validate(
        {
            "provider": "openai",
            "model": "novel-1",
            "base_url": "http://127.0.0.1:9/v1",
            "api_key_variable": "NOVEL_KEY",
        }
    )
    assert create_client(settings) is not None


def test_a_provider_with_its_own_protocol_is_one_file(add: Add) -> None:
    from taskloom.model_clients.client import PROVIDERS, create_client

    add(providers, "novel.py", "def create(settings):\n    return settings.model\n")
    assert "novel" in PROVIDERS
    made = create_client(ModelSettings.model_validate({"provider": "novel", "model": "novel-1"}))
    assert made == "novel-1"  # type: ignore[comparison-overlap]


def test_a_check_is_a_function_in_any_module_of_the_folder(add: Add) -> None:
    from taskloom.evaluators_api.checks import declaration
    from taskloom.evaluators_api.reference import checks_reference

    add(
        checks,
        "novel.py",
        "from __future__ import annotations\nfrom taskloom.evaluators_api.checks.declaration import check\n\n"
        '@check(reads="screen")\ndef check_novelty(scene, text: str) -> bool:\n    """Whether it is new."""\n'
        "    return True\n",
    )
    declaration.checks.cache_clear()
    checks_reference.cache_clear()
    try:
        assert "check_novelty" in declaration.checks()
        assert "Whether it is new." in checks_reference()
    finally:
        declaration.checks.cache_clear()
        checks_reference.cache_clear()


def test_a_format_of_state_is_one_file(add: Add) -> None:
    from taskloom.evaluators_api.state import reading

    lines = (ROOT / "evaluators_api/state/formats/lines.py").read_text(encoding="utf-8")
    suffixes = re.compile(r"^SUFFIXES.*$", re.MULTILINE)
    add(formats, "novel.py", suffixes.sub('SUFFIXES = frozenset([".novel"])', lines))
    reading.all_formats.cache_clear()
    try:
        assert reading.read("a.novel", "one\ntwo\n")[0] == "novel"
    finally:
        reading.all_formats.cache_clear()
        reading.read.cache_clear()


def test_a_prompt_is_a_folder_an_input_and_a_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from taskloom.prompts import rendering
    from taskloom.prompts.prompt_input import PromptInput

    (tmp_path / "novelty_judge").mkdir()
    (tmp_path / "novelty_judge" / "system.md.jinja").write_text("You judge.", encoding="utf-8")
    (tmp_path / "novelty_judge" / "user.md.jinja").write_text("Is {{ thing }} new?", encoding="utf-8")
    monkeypatch.setattr(rendering, "_folder", lambda: tmp_path)

    class Role(StrEnum):
        NOVELTY_JUDGE = "novelty_judge"

    class NoveltyJudgeReply(Record):
        """A reply."""

        new: bool
        """Whether it is new."""

    class NoveltyJudgeInput(PromptInput[NoveltyJudgeReply]):
        """A prompt."""

        role = Role.NOVELTY_JUDGE  # type: ignore[assignment]
        thing: str
        """What is judged."""

        @property
        def reply_type(self) -> type[NoveltyJudgeReply]:
            """The record that the answer must be."""
            return NoveltyJudgeReply

    question = NoveltyJudgeInput(thing="this")
    assert question.rendered().user == "Is this new?"
    rendering.template_hash.cache_clear()


def test_a_dimension_touches_the_modules_that_the_row_names() -> None:
    row = ROWS["a complexity dimension"]
    assert {place for place in NAMED_IN if place.endswith(".py")} <= set(re.findall(r"`([a-z_/]+\.py)`", row))


def test_a_column_is_a_field_with_its_docstring() -> None:
    class Wider(Task):
        """A task with one more field."""

        novelty: int = 0
        """How new it is."""

    columns = {column.name: column.comment for column in replace(TABLE_NAMED["tasks"], record=Wider).columns}
    assert columns["novelty"] == "How new it is."


def test_a_setting_is_a_field_with_its_docstring(monkeypatch: pytest.MonkeyPatch) -> None:
    from scripts import documentation

    class Wider(RetrySettings):
        """Settings with one more field."""

        novelty: int = 3
        """How new it is."""

    monkeypatch.setattr(documentation, "Settings", Wider)
    assert "| `novelty` | `3` | How new it is. |" in documentation.settings_page()


def test_a_retry_policy_is_read_by_the_sender_alone() -> None:
    from taskloom.model_clients.senders import Sender

    assert get_type_hints(Sender)["retries"] is RetrySettings
    assert issubclass(RetrySettings, Record)
    using = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "model_clients").rglob("*.py")
        if "tenacity" in path.read_text(encoding="utf-8")
    ]
    assert using == ["model_clients/senders.py"]


def test_every_row_is_tried() -> None:
    tried = {
        "a kind of world",
        "an application",
        "a platform",
        "a gesture of agents",
        "a provider with a supported protocol",
        "a provider with its own protocol",
        "a check",
        "a format of state",
        "a prompt",
        "a complexity dimension",
        "a column",
        "a setting",
        "a command, or an option of one",
        "an import",
        "an export",
        "a named query",
        "an agent to evaluate",
        "a metric of agents",
        "a retry policy of model calls",
    }
    assert set(ROWS) == tried
