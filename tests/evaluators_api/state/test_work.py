"""What is essential in recorded performances: what depends on the parameters and happens again with them."""

import hashlib

from taskloom.evaluators_api.state.account import find_side_effects
from taskloom.evaluators_api.state.allowances import allowances
from taskloom.evaluators_api.state.essential import divided, is_unsure, performances_of
from taskloom.synthesis.cross_verification.agreement import agreeing
from taskloom.taskgraph.records.evidence import FileState
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
        found = find_side_effects(item.initial_evidence, item.final_evidence, [(work, item.parameters)])
        assert found.total == damage


PAGES = ".applications/wiki"


def saved(title: str, *saves: str, spoilt: str = "", beside: str = "", foreign: str = "") -> Trajectory:
    """A page is made by `saves`, of which each leaves a line of the log and an unreadable file."""
    log = "".join(f"{stamp} saved {title}\n" for stamp in ("2026-11-26 08:00:00", *saves)) + foreign
    digests = [hashlib.sha256(stamp.encode()).hexdigest() for stamp in saves]
    objects = [FileState(path=f"{PAGES}/objects/{name}", size=1, sha256=name) for name in digests]
    pages = [file(f"{PAGES}/pages/{name}.md", "new\n") for name in (title, beside) if name]
    kept = [] if spoilt == "Home" else [file(f"{PAGES}/pages/Home.md", "hello\n")]
    start = {
        "files": (
            file(f"{PAGES}/log", log.splitlines(keepends=True)[0]),
            file(f"{PAGES}/pages/Home.md", "hello\n"),
        )
    }
    files = tuple(sorted((file(f"{PAGES}/log", log), *objects, *pages, *kept), key=lambda item: item.path))
    return recording("wiki.add", {"title": title}, [click("Save", files=files)], start=start)


def side_effects(performance: Trajectory, *performances: Trajectory) -> int:
    bound = [(allowances(performances_of(performances)), performance.parameters)]
    return find_side_effects(performance.initial_evidence, performance.final_evidence, bound).total


def test_a_history_has_as_many_entries_as_saves() -> None:
    known = (saved("Tea", "2026-11-26 10:00:01"), saved("Cake", "2026-11-26 11:00:02"))
    twice = ("2026-11-27 07:00:01", "2026-11-27 07:00:09")
    assert side_effects(saved("Jam", *twice), *known) == 0
    assert side_effects(saved("Jam", *twice, beside="Bread"), *known) == 1, "another page as well"
    assert side_effects(saved("Jam", *twice, spoilt="Home"), *known) == 1, "a page is lost"
    foreign = "buy bread\nremoved user bob\n2026-11-27 07:00:01 saved Bread\n"
    assert side_effects(saved("Jam", *twice, foreign=foreign), *known) == 3, "lines that tell of other things"


def sealed(title: str, *keys: str) -> Trajectory:
    """Unreadable records beside a document that tells of them."""
    digests = [hashlib.sha256(key.encode()).hexdigest() for key in keys]
    records = [FileState(path=f"{PAGES}/vault/{name}", size=1, sha256=name) for name in digests]
    files = tuple(sorted((*records, file(f"Documents/{title}.txt", "done\n")), key=lambda item: item.path))
    return recording("vault.add", {"title": title}, [click("Save", files=files)], start={"files": ()})


def test_unreadable_records_are_bounded_where_no_line_tells_of_saves() -> None:
    known = (sealed("Tea", "a"), sealed("Cake", "b"))
    assert side_effects(sealed("Jam", "c"), *known) == 0
    assert side_effects(sealed("Jam", "c", "d", "e"), *known) == 2


def noted(text: str, *stamps: str) -> Trajectory:
    """A line with its time in a diary, of which nothing else tells."""
    lines = "".join(f"{stamp} {text}\n" for stamp in stamps)
    start = {"files": (file(f"{PAGES}/diary", "2026-11-26 08:00:00 up\n"),)}
    files = (file(f"{PAGES}/diary", f"2026-11-26 08:00:00 up\n{lines}"),)
    return recording("wiki.note", {"text": text}, [click("Save", files=files)], start=start)


def test_a_record_that_alone_tells_of_the_work_is_doubled_by_a_second_one() -> None:
    known = (noted("rain", "2026-11-26 10:00:01"), noted("snow", "2026-11-26 11:00:02"))
    assert side_effects(noted("sun", "2026-11-27 07:00:01"), *known) == 0
    assert side_effects(noted("sun", "2026-11-27 07:00:01", "2026-11-27 07:00:09"), *known) == 1
