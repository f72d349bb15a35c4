"""Recordings as ATIF documents, read by the format's published models."""

from __future__ import annotations

from pathlib import Path

import atif
import pytest

from taskloom.warehouse.exporting.exporting import ExportOptions, export
from taskloom.warehouse.store import Warehouse


def documents(folder: Path) -> dict[str, atif.Trajectory]:
    return {
        path.parent.name: atif.Trajectory.model_validate_json(path.read_text())
        for path in sorted(folder.rglob("trajectory.json"))
    }


def test_every_recording_is_a_document_of_the_published_models(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "atif", tmp_path / "out")

    found = documents(tmp_path / "out")

    assert set(found) == {"trajectory-1", "trajectory-2"}
    first = found["trajectory-1"]
    assert [step.source for step in first.steps] == ["user", *["agent"] * 6]
    click = first.steps[1]
    assert click.reasoning_content == "Do step 1" and click.message == "Screen 1"
    (call,) = click.tool_calls or []
    assert call.function_name == "click_input" and len(call.arguments["point"]) == 2
    assert call.arguments["double"] is True
    drag = first.steps[4].tool_calls or []
    assert len(drag[0].arguments["path"]) == 2


def test_every_picture_of_a_document_lies_beside_it(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "atif", tmp_path / "out")

    for path in (tmp_path / "out").rglob("trajectory.json"):
        document = atif.Trajectory.model_validate_json(path.read_text())
        contents: list[object] = [step.message for step in document.steps]
        contents += [
            result.content
            for step in document.steps
            for result in (step.observation or atif.Observation(results=[])).results
        ]
        sources = [
            part.source.path
            for content in contents
            if isinstance(content, list)
            for part in content
            if part.source
        ]
        assert len(sources) == len(document.steps)
        assert all((path.parent / name).read_bytes().startswith(b"\x89PNG") for name in sources)


@pytest.mark.parametrize("coordinates", ["unit", "thousand"])
def test_points_are_in_the_coordinates_asked_for(
    sampled: Warehouse, tmp_path: Path, coordinates: str
) -> None:
    export(
        sampled, "atif", tmp_path / "out", options=ExportOptions.model_validate({"coordinates": coordinates})
    )

    limit = 1 if coordinates == "unit" else 1000
    first = documents(tmp_path / "out")["trajectory-1"]
    (call,) = first.steps[1].tool_calls or []
    assert all(0 < value < limit for value in call.arguments["point"])
    assert (first.extra or {})["coordinates"] == coordinates
