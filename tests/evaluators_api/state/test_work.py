"""What is essential in recorded performances: what depends on the parameters and happens again with them."""

from taskloom.evaluators_api.state.account import allowances, beyond
from taskloom.evaluators_api.state.work import divided, is_unsure, performances_of
from taskloom.synthesis.cross_verification.agreement import agreeing
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, file, recording

STATE = ".applications/jobs"


def started(job: str, stamp: str, *, settings: str = "{}", instruction: str = "") -> Trajectory:
    """A job is started: its state, the application's own log and settings, and a copy of its old state."""
    before = '{"backup": "stopped", "mailer": "stopped"}'
    after = before.replace(f'"{job}": "stopped"', f'"{job}": "running"')
    files = (
        file(f"{STATE}/backup.json", before),
        file(f"{STATE}/jobs.json", after),
        file(f"{STATE}/jobs.log", f"up\n{stamp} INFO started '{job}' with pid {len(stamp)}\n"),
        file(f"{STATE}/settings.json", settings),
    )
    start = {
        "files": (
            file(f"{STATE}/jobs.json", before),
            file(f"{STATE}/jobs.log", "up\n"),
            file(f"{STATE}/settings.json", "{}"),
        )
    }
    told = instruction or f"Start the job '{job}'."
    return recording("jobs.start", {"job": job}, [click("Save", files=files)], start=start, instruction=told)


def essential(*performances: Trajectory) -> list[set[str]]:
    return [{item.container.rpartition("/")[2] for item in one.essential} for one in divided(performances)]


def test_a_time_in_a_line_that_names_a_parameter_is_not_essential() -> None:
    performances = (
        started("backup", "2026-11-26 10:59:32,925"),
        started("mailer", "2026-11-26 11:02:10,077"),
    )
    assert "jobs.log" not in set.union(*essential(*performances))


def test_what_differs_when_the_same_is_done_again_is_not_essential_however_it_is_written() -> None:
    performances = (
        started("backup", "round one"),
        started("mailer", "round 2"),
        started("backup", "the third"),
    )
    assert essential(*performances) == [{"jobs.json"}] * 3


def test_what_an_application_keeps_alike_whatever_the_parameters_is_a_by_product() -> None:
    performances = (
        started("backup", "", settings='{"seen": 1}'),
        started("mailer", "", settings='{"seen": 1}'),
    )
    assert "settings.json" not in set.union(*essential(*performances))
    assert "backup.json" not in set.union(*essential(*performances))
    assert all("jobs.json" in found for found in essential(*performances))


def test_what_the_instruction_names_is_no_by_product() -> None:
    told = "Start the job '{}' and set the theme to midnight."
    performances = [
        started(job, "", settings='{"theme": "midnight"}', instruction=told.format(job))
        for job in ("backup", "mailer")
    ]
    assert all("settings.json" in found for found in essential(*performances))


def test_a_table_that_every_page_changes_alike_is_a_by_product() -> None:
    def made(page: str) -> Trajectory:
        tables = (
            'CREATE TABLE "page"("name" PRIMARY KEY, "text");\n{}'
            'CREATE TABLE "counter"("id" PRIMARY KEY, "pages");\nINSERT INTO "counter" VALUES(7,{});\n'
        )
        row = f"INSERT INTO \"page\" VALUES('{page}','new');\n"
        start = {"files": (file(f"{STATE}/pages.db", tables.format("", 1)),)}
        files = (file(f"{STATE}/pages.db", tables.format(row, 2)),)
        return recording("wiki.make", {"page": page}, [click("Save", files=files)], start=start)

    found = divided((made("Garden"), made("Kitchen")))
    assert [{item.address[0] for item in one.essential} for one in found] == [{"page"}] * 2


def test_without_other_parameters_nothing_is_a_by_product() -> None:
    performances = [started("backup", "", settings='{"seen": 1}')] * 2
    assert all("settings.json" in found for found in essential(*performances))


def test_a_line_that_no_parameter_explains_can_only_be_judged_by_doing_the_same_again() -> None:
    performances = [started("backup", "round one"), started("mailer", "round 2")]
    assert is_unsure(performances)
    assert not is_unsure([*performances, started("backup", "the third")])
    assert not is_unsure([started(job, "always") for job in ("backup", "mailer")])


HOME = ".applications/days/anna"
IDS = ("3f0a1c52-7b1e-4d0a-9a52-0c6f6d2b1a01", "3f0a1c52-7b1e-4d0a-9a52-0c6f6d2b1a02")


def deleted(*gone: int) -> Trajectory:
    """Calendars, each a folder under a made-up name with its title and other entries in it, are deleted."""
    held = {
        0: (
            file(f"{HOME}/{IDS[0]}/props.json", '{"title": "Work"}'),
            file(f"{HOME}/{IDS[0]}/a.ics", "9"),
        ),
        1: (
            file(f"{HOME}/{IDS[1]}/props.json", '{"title": "Home"}'),
            file(f"{HOME}/{IDS[1]}/b.ics", "24"),
        ),
    }
    start = {"files": (*held[0], *held[1]), "directories": (HOME, *(f"{HOME}/{one}" for one in IDS))}
    left = {
        "files": tuple(item for number, files in held.items() if number not in gone for item in files),
        "directories": (HOME, *(f"{HOME}/{one}" for number, one in enumerate(IDS) if number not in gone)),
    }
    name = ("Work", "Home")[gone[0]]
    return recording("days.delete", {"title": name}, [click("Close", **left)], start=start)


def test_a_folder_under_a_made_up_name_is_one_record_whatever_is_in_it() -> None:
    performances = [deleted(0), deleted(1)]
    assert agreeing(performances, 2) == performances
    work = allowances(performances_of([performances[0]]))
    for item, damage in ((deleted(1), 0), (deleted(0, 1), 1)):
        found = beyond(item.initial_evidence, item.final_evidence, [(work, item.parameters)])
        assert found.total == damage
