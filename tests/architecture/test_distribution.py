"""What is installed: one name with every file of the rooms, the same from the source distribution."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES, ROOT
from tests.shared_work import made_once

BUILD = """
import json, sys
from hatchling.build import build_sdist, build_wheel
print(json.dumps([build_wheel(sys.argv[1]), build_sdist(sys.argv[1])]))
"""
FOREIGN = ("cli.py", "prompts/__init__.py", "prompts/mine.py", "resources/__init__.py", "flows/__init__.py")
"""Names that a user's folder may have as well as any."""


def built(source: Path, target: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution of `source`, in `target`."""
    target.mkdir()
    made = subprocess.run(
        [sys.executable, "-c", BUILD, str(target)], cwd=source, capture_output=True, text=True, check=True
    )
    wheel, archive = json.loads(made.stdout.splitlines()[-1])
    return target / wheel, target / archive


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = made_once(tmp_path_factory, "distributions", lambda place: built(ROOT, place / "dist") and None)
    wheel, archive = sorted((folder / "dist").iterdir(), key=lambda path: path.suffix, reverse=True)
    return wheel, archive


def test_the_wheel_holds_every_file_of_the_rooms_under_one_name_and_nothing_else(
    distributions: tuple[Path, Path],
) -> None:
    with zipfile.ZipFile(distributions[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"taskloom"}
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PACKAGES],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    tracked = {f"taskloom/{name}" for name in listed if (ROOT / name).is_file()}
    assert names == {*tracked, "taskloom/__init__.py", "taskloom/py.typed"}
    assert {".py", ".yaml", ".jinja", ".sql", ".js", ".css", ".html"} <= {Path(name).suffix for name in names}
    assert not any("test" in Path(name).parts[1] for name in names)


def test_a_wheel_of_the_source_distribution_is_the_same(
    distributions: tuple[Path, Path], tmp_path: Path
) -> None:
    wheel, archive = distributions
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "source", filter="data")
        assert all(member.isfile() for member in opened.getmembers())
    again, _ = built(next((tmp_path / "source").iterdir()), tmp_path / "dist")
    assert again.read_bytes() == wheel.read_bytes()


def test_names_in_the_folder_of_a_user_disturb_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    for name in FOREIGN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise ImportError('this belongs to the user')\n", encoding="utf-8")
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    agent = next(text.partition("```")[0] for text in page.split("```python\n")[1:] if "def make" in text)
    (folder / "my_agents.py").write_text(agent, encoding="utf-8")
    (folder / "attempt.py").write_text(ATTEMPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "attempt.py", str(ROOT)],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"from": str(ROOT / "src"), "steps": 3, "problems": []}


ATTEMPT = """
import asyncio, json, sys
sys.path = [path for path in sys.path if path != sys.argv[1]]
import taskloom
from taskloom.cli.main import create_app
from taskloom.environments.episode import record_steps
from taskloom.flows.settings import load_settings
from taskloom.flows.stages.agents import check_agent
from taskloom.flows.wiring import catalogue, create_environment
create_app()
check_agent("my_agents:make")
import my_agents

async def attempt():
    environment = create_environment(load_settings(), "simulated")
    screen = await environment.reset(list(catalogue(load_settings(platform="simulated")).values())[:1])
    agent = my_agents.make()
    done = await record_steps(environment, agent, "Press a button.", screen, step_limit=3)
    await environment.close()
    return done

done = asyncio.run(attempt())
print(json.dumps({
    "from": taskloom.__file__.rpartition("/taskloom/")[0],
    "steps": len(done.steps),
    "problems": [step.problem for step in done.steps if step.problem],
}))
"""
