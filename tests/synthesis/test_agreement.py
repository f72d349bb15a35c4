import hashlib
import json

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import divide
from taskloom.resources.applications import ControlQuery
from taskloom.synthesis.cross_verification.agreement import agreeing, difference, route, routes
from taskloom.synthesis.cross_verification.clean_work import side_effects
from taskloom.synthesis.examination.subject import subject_of
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import ClipboardState, FileState, InputEvent
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, WaitInput
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import Move, click, control, file, recording, screen


def performed(
    name: str, *, clicked: str = "Save", saved: bool = True, attempt: int = 0, waits: bool = False
) -> Trajectory:
    typed: Move = (
        KeyboardInput(control_label="1", keys=name),
        ControlQuery(text="File name", control_type="Edit"),
        InputEvent(step=1, kind="text", text=name),
        {},
    )
    pressed: Move = (
        ClickInput(control_label="2"),
        ControlQuery(text=clicked, control_type="Button"),
        InputEvent(step=2, kind="click"),
        {"files": (file(name, "hello"),)} if saved else {},
    )
    wait: Move = (WaitInput(), ControlQuery(), InputEvent(step=3, kind="wheel"), {})
    moves = [typed, *([wait] if waits else []), pressed]
    return recording("notes.save", {"text_path": name}, moves, attempt=attempt)


def test_other_values_with_the_same_result_agree() -> None:
    one, two = performed("Documents/a.txt"), performed("Documents/b.txt")
    assert agreeing([one, two], 2) == [one, two]
    assert difference([one, two]) == ""


def test_two_routes_to_one_result_agree() -> None:
    one, two = performed("Documents/a.txt"), performed("Documents/b.txt", clicked="Close")
    assert agreeing([one, two], 2) == [one, two]
    assert len(routes([one, two])) == 2


def test_folders_named_by_what_was_made_agree() -> None:
    def made(title: str, folder: str) -> Trajectory:
        files = (file(f"{folder}/buckets.json", "[]"),)
        return recording("notes.make", {"title": title}, [click("Save", files=files)])

    one, two = made("Holiday plans", "holiday-plans"), made("New kitchen", "new-kitchen")
    assert agreeing([one, two], 2) == [one, two]
    assert agreeing([one, made("New kitchen", "kitchen")], 2) == []


def test_another_result_does_not_agree_and_the_difference_is_told() -> None:
    one, two = performed("Documents/a.txt"), performed("Documents/b.txt", saved=False)
    assert agreeing([one, two], 2) == []
    assert "file {text_path} added" in difference([one, two])


def test_a_third_performance_decides() -> None:
    good, stray, again = (
        performed("Documents/a.txt"),
        performed("Documents/b.txt", saved=False),
        performed("Documents/b.txt", attempt=1),
    )
    assert agreeing([good, stray, again], 2) == [good, again]


def test_what_lies_in_something_new_may_differ() -> None:
    one = recording("x.export", {}, [click("Save", files=(file("a.csv", "x,y\n1,2\n"),))])
    two = recording("x.export", {}, [click("Save", files=(file("a.csv", "x,y\n3,4\n5,6\n"),))], attempt=1)
    assert len(agreeing([one, two], 2)) == 2


def test_something_besides_does_not_agree() -> None:
    one = recording("x.copy", {}, [click("Copy", clipboard=ClipboardState(text="a"))])
    two = recording(
        "x.copy", {}, [click("Copy", clipboard=ClipboardState(text="a"), files=(file("b", "c"),))], attempt=1
    )
    assert agreeing([one, two], 2) == []


def test_a_performance_that_copied_another_text_with_the_same_parameters_does_not_agree() -> None:
    def copied(text: str, attempt: int, sheet: str = "a") -> Trajectory:
        moves = [click("Copy", clipboard=ClipboardState(text=text))]
        return recording("x.copy", {"sheet": sheet}, moves, attempt=attempt)

    whole, cell, again, other = copied("a b c", 0), copied("a", 1), copied("a b c", 2), copied("d e", 0, "d")
    assert agreeing([whole, cell], 2) == agreeing([whole, cell, other], 2) == []
    assert agreeing([cell, whole, again, other], 2) == [whole, again, other]
    ids = [copied(f"https://share/aqKdgXWaQoVxcgUtqEy{number}", number) for number in (1, 2)]
    assert agreeing(ids, 2) == ids


def test_where_nothing_lasts_the_window_decides() -> None:
    def shown(name: str, title: str) -> Trajectory:
        return recording("x.show", {"title": name}, [click(name, window_title=title)])

    assert len(agreeing([shown("Plans", "Plans - App"), shown("Ideas", "Ideas - App")], 2)) == 2
    assert agreeing([shown("Plans", "Plans - App"), shown("Ideas", "Error")], 2) == []


def test_where_the_window_stays_the_same_the_route_decides() -> None:
    def pressed(*names: str, attempt: int = 0) -> Trajectory:
        moves = [click(name, controls=screen(control("More", "Text"))) for name in names]
        return recording("x.play", {}, moves, attempt=attempt)

    assert len(agreeing([pressed("Play", "Pause"), pressed("Play", "Pause", attempt=1)], 2)) == 2
    assert agreeing([pressed("Play", "Pause"), pressed("Play", attempt=1)], 2) == []


def test_a_control_named_by_a_value_is_the_same_route() -> None:
    one = performed("Documents/a.txt", clicked="Documents/a.txt")
    two = performed("Documents/b.txt", clicked="Documents/b.txt")
    assert route(one) == route(two)


def test_a_folder_named_by_a_value_is_the_same_route() -> None:
    one = performed("Documents/a.txt", clicked="Documents")
    two = performed("Downloads/b.txt", clicked="Downloads")
    assert route(one) == route(two)


def test_waiting_is_no_part_of_the_route() -> None:
    assert route(performed("Documents/a.txt", waits=True)) == route(performed("Documents/a.txt"))


def test_the_same_work_on_another_row_of_a_table_agrees() -> None:
    """A number that a row has for a key says nothing about the work."""
    database = "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, lent INTEGER);\n"
    rows = "INSERT INTO books VALUES(1,'Emma',{0});\nINSERT INTO books VALUES(2,'Dracula',{1});\n"
    found = []
    for title, lent in (("Emma", ("1", "0")), ("Dracula", ("0", "1"))):
        before, after = (
            (
                FileState(
                    path=".applications/library/library.db",
                    size=1,
                    sha256=state,
                    text=database + rows.format(*values),
                ),
            )
            for state, values in (("a", ("0", "0")), (title, lent))
        )
        move: Move = (
            ClickInput(control_label="1"),
            ControlQuery(),
            InputEvent(step=0, kind="click"),
            {"files": after},
        )
        found.append(recording("library.lend", {"entry": title}, [move], start={"files": before}))
    assert agreeing(found, 2) == found


def lent(title: str, *, renewed: bool = False, attempt: int = 0) -> Trajectory:
    """A book is lent out; with `renewed`, its reader is noted anew."""
    numbers = {"Emma": 1, "Dracula": 2}

    def state(out: int, seen: int) -> FileState:
        books = [
            f"INSERT INTO \"books\" VALUES({number}, '{name}', {int(number == out)});\n"
            for name, number in numbers.items()
        ]
        reader = f"INSERT INTO \"readers\" VALUES(7, 'Ada', {seen});\n"
        heads = ['CREATE TABLE "books"("id" PRIMARY KEY, "title", "lent"); -- 2 rows\n']
        heads.append('CREATE TABLE "readers"("id" PRIMARY KEY, "name", "seen"); -- 1 rows\n')
        return file(".applications/library/library.db", heads[0] + "".join(books) + heads[1] + reader)

    after = state(numbers[title], int(renewed))
    move = click("Save", files=(after,))
    start = {"files": (state(0, 0),)}
    return recording("library.lend", {"entry": title}, [move], start=start, attempt=attempt)


def test_what_the_changed_record_holds_tells_a_value_where_only_some_sets_change_more() -> None:
    """Which record is meant is seen in what it holds, whatever else goes along with some of the sets."""
    more = [lent("Emma", renewed=True), lent("Emma", renewed=True, attempt=1)]
    same = [lent("Dracula"), lent("Dracula", attempt=1)]
    assert agreeing([*more, *same], 4) == [*more, *same]
    assert agreeing([more[0], same[0]], 2) == []


WATCHES = ".applications/watcher/w1/watch.json"
TOWN, TRAVEL = "1c1c1c1c-aaaa-4bbb-8ccc-000000000001", "1c1c1c1c-aaaa-4bbb-8ccc-000000000002"


def grouped(group: str, identity: str, *, former: str = TOWN, attempt: int = 0, **more: object) -> Trajectory:
    """A watch is put into a group, which the application keeps under an id of its own."""

    def watch(tag: str, **fields: object) -> FileState:
        return file(WATCHES, json.dumps({"title": "Hours", "tags": [tag] if tag else [], "runs": 0} | fields))

    def tags(*known: tuple[str, str]) -> list[FileState]:
        return [
            file(f".applications/watcher/{name}/tag.json", json.dumps({"uuid": name, "title": title}))
            for name, title in known
        ]

    known = tags(
        (TOWN, "Town"), (TRAVEL, "Travel"), *([(identity, group)] if identity not in (TOWN, TRAVEL) else [])
    )
    return recording(
        "watcher.set_group",
        {"group_name": group},
        [click("Save", files=(watch(identity, **more), *known))],
        start={"files": (watch(former), *known)},
        attempt=attempt,
    )


def test_ids_that_an_application_makes_up_agree_by_the_record_that_they_stand_for() -> None:
    one = grouped("Errands", "77477e76-115d-4399-88bf-af789df13e61")
    again = grouped("Errands", "50bd18a3-8b2e-4d9a-8020-af39873d349b", attempt=1)
    known, first = grouped("Travel", TRAVEL), grouped("Travel", TRAVEL, former="", attempt=1)
    assert agreeing([one, again, known, first], 4) == [one, again, known, first]
    division = divide([(found_in(item), item.parameters) for item in (one, again, known)])
    assert [effect.refers_template for effect in division[0].essential] == ["{group_name}"]


def test_an_id_of_another_record_does_not_agree() -> None:
    wrong = grouped("Errands", TRAVEL, attempt=2)
    assert agreeing([grouped("Errands", "77477e76-115d-4399-88bf-af789df13e61"), wrong], 2) == []


def test_what_only_one_of_two_equal_performances_changes_is_not_their_work() -> None:
    performed = [
        grouped("Errands", "77477e76-115d-4399-88bf-af789df13e61", runs=1),
        grouped("Errands", "50bd18a3-8b2e-4d9a-8020-af39873d349b", attempt=1),
        grouped("Travel", TRAVEL),
    ]
    assert agreeing(performed, 3) == performed
    assert agreeing([performed[0], performed[2]], 2) == []


def test_another_action_on_the_way_is_work_and_does_not_agree() -> None:
    one = recording("x.copy", {}, [click("Save", files=(file("a", "c"),))])
    two = recording(
        "x.copy", {}, [click("New"), click("Save", files=(file("a", "c"), file("b", "c")))], attempt=1
    )
    assert agreeing([one, two], 2) == []


def test_references_to_what_was_removed_go_with_it() -> None:
    def removed(title: str, identity: str, *, used: bool) -> Trajectory:
        def watch(tag: str) -> FileState:
            return file(WATCHES, json.dumps({"title": "Hours", "tags": [tag] if tag else []}))

        kept = file(f".applications/watcher/{identity}/tag.json", json.dumps({"title": title}))
        return recording(
            "watcher.delete_group",
            {"group_name": title},
            [click("Delete", files=(watch(""),))],
            start={"files": (watch(identity if used else ""), kept)},
        )

    used, unused = removed("Town", TOWN, used=True), removed("Travel", TRAVEL, used=False)
    assert agreeing([used, unused], 2) == [used, unused]


def test_the_id_of_a_record_itself_refers_to_nothing_and_is_incidental() -> None:
    def added(title: str, identity: str, attempt: int = 0) -> Trajectory:
        watch = file(
            f".applications/watcher/{identity}/watch.json", json.dumps({"title": title, "uuid": identity})
        )
        return recording("watcher.add", {"title": title}, [click("Add", files=(watch,))], attempt=attempt)

    one = added("Hours", "77477e76-115d-4399-88bf-af789df13e61")
    other = added("Trains", "50bd18a3-8b2e-4d9a-8020-af39873d349b", attempt=1)
    division = divide([(found_in(item), item.parameters) for item in (one, other)])
    assert all("uuid" not in effect.address for item in division for effect in item.essential)
    assert any("title" in effect.address for effect in division[0].essential)


MEMBERS = 'CREATE TABLE "members"("team" PRIMARY KEY, "number" PRIMARY KEY, "role"); -- {0} rows\n'
MEMBER = "INSERT INTO \"members\" VALUES('{0}', {1}, '{2}');\n"


def stored(*texts: str) -> FileState:
    return file(".applications/tracker/tracker.db", "".join(texts))


def test_a_key_of_a_parameter_and_a_number_is_generalised_part_by_part() -> None:
    def promoted(team: str, number: int, role: str) -> Trajectory:
        others = [MEMBER.format("South", 9, "guest")]
        before = stored(MEMBERS.format(2), *others, MEMBER.format(team, number, "guest"))
        after = stored(MEMBERS.format(2), *others, MEMBER.format(team, number, role))
        return recording(
            "tracker.promote", {"team": team}, [click("Save", files=(after,))], start={"files": (before,)}
        )

    def joined(team: str, number: int) -> Trajectory:
        before, row = stored(MEMBERS.format(0)), MEMBER.format(team, number, "guest")
        moves = [click("Save", files=(stored(MEMBERS.format(1), row),))]
        return recording("tracker.join", {"team": team}, moves, start={"files": (before,)})

    one, two = promoted("North", 3, "lead"), promoted("West side", 41, "lead")
    assert agreeing([one, two], 2) == [one, two]
    (effect,) = [item for item in found_in(one) if item.area == "file"]
    assert effect.address_template == ("members", "rows", "{team}, *", "role")
    assert len(agreeing([joined("North", 3), joined("West side", 41)], 2)) == 2
    wrong = promoted("South", 9, "lead").model_copy(update={"parameters": {"team": "North"}})
    assert agreeing([one, wrong], 2) == []


EXPERIMENTS = 'CREATE TABLE "experiments"("id" PRIMARY KEY, "name", "state"); -- 3 rows\n'
RUNS = 'CREATE TABLE "runs"("id" PRIMARY KEY, "rank", "experiment", "state"); -- 4 rows\n'


def deleted(name: str, *, marks: bool = True, beside: bool = False, attempt: int = 0) -> Trajectory:
    """An experiment is deleted: the application marks it and its runs: two, one or none."""
    names = {"Baseline": "1", "Ablation": "2", "Draft": "3"}
    runs = {"r1": "1", "r2": "1", "r3": "2", "r4": "2"} if name != "Ablation" else {"r1": "1", "r3": "2"}

    def state(gone: str, *, late: bool = False) -> FileState:
        rows = [EXPERIMENTS]
        for known, key in names.items():
            mark = "gone" if key == gone else "live"
            rows.append(f"INSERT INTO \"experiments\" VALUES({key}, '{known}', '{mark}');\n")
        rows.append(RUNS)
        for number, (run, key) in enumerate(runs.items()):
            mark = "gone" if (key == gone and marks) or (late and key != names[name]) else "live"
            rows.append(f"INSERT INTO \"runs\" VALUES('{run}', {number}, {key}, '{mark}');\n")
        return stored(*rows)

    return recording(
        "tracker.delete_experiment",
        {"experiment_name": name},
        [click("Delete", files=(state(names[name], late=beside),))],
        start={"files": (state(""),)},
        attempt=attempt,
    )


def test_records_that_go_along_with_what_was_touched_agree_whatever_their_number() -> None:
    two, one, none = deleted("Baseline"), deleted("Ablation"), deleted("Draft")
    assert agreeing([two, one, none], 3) == [two, one, none]
    assert side_effects([two, one, none]) == {}
    division = divide([(found_in(item), item.parameters) for item in (two, one)])
    assert ("runs", "rows", "*", "state") in {item.address_template for item in division[0].essential}


def test_where_something_had_to_go_along_and_did_not_performances_disagree() -> None:
    assert agreeing([deleted("Baseline"), deleted("Ablation", marks=False)], 2) == []


def test_what_does_not_refer_to_what_was_touched_does_not_go_along() -> None:
    strays = [deleted("Baseline", beside=True), deleted("Ablation", beside=True)]
    assert not any(item.follows and item.address[2] == "r3" for item in found_in(strays[0]))
    assert agreeing(strays, 2) == []


def found_in(performance: Trajectory) -> tuple[Effect, ...]:
    return effects(performance.initial_evidence, performance.final_evidence, performance.parameters)


def kept_by_content(name: str) -> Trajectory:
    """A page saved by an application that keeps its history in files named after their content."""
    parts = [hashlib.sha1(f"{name} {number}".encode()).hexdigest() for number in range(3)]
    paths = [f".applications/wiki/objects/{part[:2]}/{part[2:]}" for part in parts]
    objects = tuple(
        FileState(path=path, size=9, sha256=part * 2) for path, part in zip(paths, parts, strict=True)
    )
    page = file(f".applications/wiki/{name}.md", "hello")
    return recording("wiki.save", {"page": name}, [click("Save", files=(page, *objects))])


def test_files_with_sortable_ids_for_names_agree() -> None:
    def carded(title: str, name: str) -> Trajectory:
        card = file(f".applications/board/default/{name}.md", f"---\nid: {name}\ntitle: {title}\n---\n")
        return recording("board.add_card", {"title": title}, [click("Create", files=(card,))])

    made = [
        carded("Buy paint", "01M8E65S421SBW10Q6YV1MAT7P"),
        carded("Call the bank", "01M8E65ZW83XZ4GG3WCYDGPMW8"),
    ]
    assert agreeing(made, 2) == made


def test_files_named_after_their_content_agree_and_are_not_asked_for() -> None:
    one, two = kept_by_content("Alder"), kept_by_content("Beech")
    assert agreeing([one, two], 2) == [one, two]
    assert [item.container for item in subject_of(one, [two]).required] == [".applications/wiki/Alder.md"]
