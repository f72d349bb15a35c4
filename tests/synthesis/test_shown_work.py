"""Work that is only shown: drawings that were opened, rows that were copied, and data that is to stay as it
was."""

import json
from collections.abc import Sequence

from taskloom.offline.evaluation_writer import write_function
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.synthesis.cross_verification.agreement import agreeing
from taskloom.synthesis.evaluation_functions.evaluation_functions import performances
from taskloom.synthesis.examination.examination import build_cases
from taskloom.synthesis.examination.subject import Case
from taskloom.taskgraph.records.evidence import ClipboardState
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.evaluators_api.test_drawing_checks import drawio
from tests.evaluators_api.test_state_checks import SHOP
from tests.synthesis.recordings import click, control, file, recording, screen

DATABASE = ".applications/desk/shop.db"
LABELS = {"Documents/net.drawio": "Firewall", "Documents/plan.drawio": "Order arrives"}
ROWS = {
    "customers": {"id": 1, "name": "Ada", "city": "London"},
    "sales": {"region": "West", "amount": 30.0},
}
DRAWINGS = tuple(file(path, drawio(label)) for path, label in LABELS.items())


def opened(path: str) -> Trajectory:
    shown = screen(control(LABELS[path], "Custom"))
    done = click("New", controls=shown, window_title=f"{path} - Drawing")
    return recording("draw.open", {"diagram_path": path}, [done], start={"files": DRAWINGS})


def copied(table: str) -> Trajectory:
    held = ClipboardState(text=json.dumps(ROWS[table], indent=2))
    return recording(
        "desk.copy_row",
        {"table_name": table},
        [click("Send", clipboard=held)],
        start={"files": (file(DATABASE, SHOP),)},
    )


def looked_at(table: str) -> Trajectory:
    done = click("New", url=f"http://127.0.0.1/{table}/rows/", controls=screen(control(table, "Heading")))
    return recording("desk.show", {"table_name": table}, [done], start={"files": (file(DATABASE, SHOP),)})


def written(trajectories: Sequence[Trajectory]) -> str:
    first = trajectories[0]
    view = EvaluationWriterInput(
        checks_reference="",
        operating_system="",
        application="desk",
        title="Desk",
        instruction_template="",
        parameter_names=tuple(first.parameters),
        performances=performances(trajectories),
    )
    return write_function(view).source


def cases(trajectories: Sequence[Trajectory], words: str) -> list[Case]:
    found = build_cases(trajectories[0], other_trajectories=trajectories[1:])
    return [item for item in found if words in item.description]


def test_an_opened_drawing_must_be_seen() -> None:
    both = [opened(path) for path in LABELS]
    assert "check_drawing_shown(file_path=diagram_path)" in written(both)
    (wrong,) = cases(both, "held something else at the start than what is in screen now")
    assert not wrong.right
    assert '"Firewallzq7"' in (wrong.start.files_by_path()["Documents/net.drawio"].text or "")


def test_what_a_drawing_holds_is_no_passing_message() -> None:
    both = [opened(path) for path in LABELS]
    gone = [item for item in cases(both, "messages that come and go") if item.right]
    assert all("Firewall" in {shown.text for shown in item.evidence.controls} for item in gone)


def test_a_drawing_that_no_parameter_names_was_not_opened() -> None:
    done = click("New", controls=screen(control("Firewall", "Custom")))
    shown = recording("draw.label", {"label": "Firewall"}, [done], start={"files": DRAWINGS})
    assert "check_drawing_shown" not in written([shown])
    assert not cases([shown], "in screen now")


def test_the_first_row_of_a_table_is_known_by_its_place() -> None:
    source = written([copied(table) for table in ("customers",)])
    assert "check_one_record_copied" in source and "number=1, source_within=table_name" in source


FLOWS = (
    '[{"id": "b1", "label": "Sales"}, {"id": "b2", "z": "b1", "name": "Run"}, {"id": "c1", "label": "Ideas"}]'
)


def renamed(name: str, new: str) -> Trajectory:
    path = ".applications/flows/flows.json"
    return recording(
        "flows.rename",
        {"flow_name": name, "new_name": new},
        [click("Save", files=(file(path, FLOWS.replace(f'"{name}"', f'"{new}"')),))],
        start={"files": (file(path, FLOWS),)},
        instruction=f"Rename the flow '{name}' to '{new}'.",
    )


def test_a_record_that_a_parameter_names_is_the_same_place_whatever_its_id() -> None:
    both = [renamed("Sales", "Turnover"), renamed("Ideas", "Thoughts")]
    assert agreeing(both, quorum=2) == both
    assert "check_record_gone(" in written(both) and "{'label': flow_name}" in written(both)


NOTES = ".applications/notes/tiddlers"
NOTE = "created: {}\ntitle: {}\n\nSomething to remember\n"


def noted(title: str, time: str) -> Trajectory:
    kept = tuple(
        file(f"{NOTES}/{name}.tid", NOTE.format("20260101000000000", name)) for name in ("One", "Two")
    )
    done = click("Save", files=(*kept, file(f"{NOTES}/{title}.tid", NOTE.format(time, title))))
    return recording("notes.create", {"note_title": title}, [done], start={"files": kept})


def titled(title: str, window: str = "Drawing") -> Trajectory:
    shown = screen(control(title, "TabItem"), control(f"Pages: {title}", "Pane"))
    return recording("draw.rename", {"page": title}, [click("OK", controls=shown, window_title=window)])


def listed(table: str, page: str) -> Trajectory:
    """All rows of a table on the screen, on one page or another."""
    first, *others = map(str, ROWS[table].values())
    cells = [control(text, "DataItem").model_copy(update={"row": first}) for text in others]
    done = click("New", url=f"http://127.0.0.1/{page}/", controls=screen(control(first, "DataItem"), *cells))
    kept = [
        line
        for line in SHOP.splitlines(keepends=True)
        if not any(n in line for n in ("Grace", "North", "South"))
    ]
    return recording(
        "desk.list", {"table_name": table}, [done], start={"files": (file(DATABASE, "".join(kept)),)}
    )


def test_rows_are_asked_for_wherever_they_were_shown() -> None:
    said = written([listed("customers", "customers/rows"), listed("sales", "query")])
    assert f"check_records_shown(file_path='{DATABASE}', part=table_name)" in said
    assert "check_window" not in said
