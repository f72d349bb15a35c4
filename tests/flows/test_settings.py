"""Settings: precedence, and one clear error for everything that is wrong."""

from pathlib import Path

import pytest

from taskloom.flows.errors import CommandError
from taskloom.flows.settings import load_settings, settings_of


@pytest.fixture(autouse=True)
def clean_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "TASKLOOM_DATA",
        "TASKLOOM_SEED",
        "TASKLOOM_SETTINGS",
        "TASKLOOM_BROWSER",
        "TASKLOOM_WAREHOUSE",
    ):
        monkeypatch.delenv(name, raising=False)


def test_options_win_over_variables_and_variables_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("seed: 1\nenvironments: 3\nreplay_share: 0.5\n")
    monkeypatch.setenv("TASKLOOM_ENVIRONMENTS", "4")
    monkeypatch.setenv("TASKLOOM_SEED", "2")
    settings = load_settings(file, seed=5)
    assert (settings.seed, settings.environments, settings.replay_share) == (5, 4, 0.5)


@pytest.mark.parametrize(
    ("assignments", "first"),
    [
        ([], 8),
        (["environments=3", "fan_out.runner=dask"], 3),
        (["fan_out.workers=4"], 8),
        (["fan_out.runner=dask", "fan_out.workers=4"], 2),
        (["fan_out.runner=dask", "fan_out.workers=16"], 1),
        (["fan_out.runner=dask", "fan_out.workers=4", "fan_out.scheduler=tcp://elsewhere:8786"], 8),
    ],
)
def test_workers_on_one_machine_share_what_it_feeds(
    assignments: list[str], first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskloom.flows.settings.first_environments", lambda: 8)
    assert load_settings(assignments=assignments).first_environments == first


def test_the_file_of_the_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "taskloom.yaml").write_text("seed: 9\n")
    assert load_settings().seed == 9


def test_assignments_reach_nested_settings() -> None:
    settings = load_settings(
        assignments=[
            "models.default.provider=openai",
            "models.default.model=a",
            "models.budget=3usd",
            "applications=[x, y]",
        ]
    )
    assert settings.models.default.model == "a"
    assert settings.models.budget == "3usd"
    assert settings.applications == ("x", "y")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("sed: 1", "did you mean 'seed'?"),
        ("models: {default: {modell: x}}", "did you mean 'model'?"),
        ("environments: -1", "greater than or equal to 0, not -1"),
        ("- a\n- b", "must hold names and values, not a list"),
        ("seed: [", "line 2: not valid YAML"),
        ("seed: 1\nseed: 2", 'line 2: not valid YAML: found duplicate key "seed"'),
        ("models: &m {budget: 3usd}\nintents: *m", "line 2: aliases (*m) are not allowed"),
        ("seed: " + "[" * 5000, "not valid YAML"),
    ],
)
def test_a_bad_file_is_refused_with_what_is_wrong(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(content)
    with pytest.raises(CommandError, match=r"run\.yaml") as refused:
        load_settings(file)
    assert said in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        CommandError, match=r"cannot read the settings file .*absent\.yaml: there is no such file"
    ):
        load_settings(tmp_path / "absent.yaml")


def test_an_unknown_variable_is_refused_with_the_nearest_known_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_SEEED", "1")
    with pytest.raises(CommandError, match="Did you mean TASKLOOM_SEED"):
        load_settings()


@pytest.mark.parametrize("assignment", ["seed", "=3", "seed.x=1=2"])
def test_a_bad_assignment_is_refused(assignment: str) -> None:
    with pytest.raises(CommandError):
        load_settings(assignments=[assignment])


def test_a_value_is_not_shown_where_its_name_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("models: {default: {api_key: sk-very-secret}}")
    with pytest.raises(CommandError) as refused:
        load_settings(file)
    assert "sk-very-secret" not in str(refused.value)


def bomb(levels: int) -> str:
    """A short text whose aliases stand for nine to the power of `levels` words."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        references = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{references}]")
    return "\n".join(lines)


def test_an_alias_bomb_is_refused_in_one_short_line(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(bomb(9))
    with pytest.raises(CommandError, match="aliases") as refused:
        load_settings(file)
    assert len(str(refused.value)) < 300
    with pytest.raises(CommandError) as refused:
        load_settings(assignments=["applications=" + bomb(9)])
    assert len(str(refused.value)) < 3000


def test_a_long_value_and_many_mistakes_are_cut(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("seed: " + "[1, 2]" * 1 + "\nenvironments: " + "x" * 5000)
    with pytest.raises(CommandError) as refused:
        load_settings(file)
    assert len(str(refused.value)) < 500
    file.write_text("\n".join(f"no_{number}: 1" for number in range(50)))
    with pytest.raises(CommandError, match="and 30 more"):
        load_settings(file)


def test_a_variable_that_is_no_json_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_APPLICATIONS", "[x")
    with pytest.raises(CommandError, match="applications"):
        load_settings()


def test_a_flow_takes_settings_a_file_or_settings_beside_a_file(tmp_path: Path) -> None:
    file = tmp_path / "nightly.yaml"
    file.write_text("seed: 3\nenvironments: 2\n")
    whole = load_settings(seed=8)
    assert settings_of(whole, str(file)) is whole
    assert settings_of(None, str(file)).seed == 3
    beside = settings_of({"seed": 5, "replay": {"orders": 1}}, str(file))
    assert (beside.seed, beside.environments, beside.replay.orders) == (5, 2, 1)
    with pytest.raises(CommandError, match="did you mean 'seed'"):
        settings_of({"sed": 5}, "")
