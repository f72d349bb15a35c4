"""Which checks a writer needs for the work at hand: half of the reference is about formats that most work
does not meet."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.evaluators_api.checks.declaration import Content
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.reading import FALLBACK, read
from taskloom.taskgraph.records.evaluation_function import Reads
from taskloom.taskgraph.records.trajectory import Trajectory

_DRAWING = "drawing"


def needed_checks(trajectories: Sequence[Trajectory], *, on_screen: bool) -> frozenset[Reads | Content]:
    """Parts of the evidence, and contents of files, that functions for the work of `trajectories` may speak
    of.

    The screen counts where the result is `on_screen` or in no file, and where pictures of it may be taken. Of
    files count those that changed, and those that the work may read: their path stands in the instruction or
    a parameter, or the screen counts.
    """
    found: set[Reads | Content] = {"files"}
    for trajectory in trajectories:
        start, end = trajectory.initial_evidence, trajectory.final_evidence
        changed = effects(start, end, trajectory.parameters)
        lasting = {effect.container for effect in changed if effect.area == "file"}
        if any(effect.area == "clipboard" for effect in changed) or start.clipboard.text:
            found.add("clipboard")
        seen = on_screen or not lasting
        if seen or end.screen:
            found.add("screen")
        files = [*start.files, *(file for file in end.files if file.path in lasting)]
        told = " ".join((trajectory.instruction, *trajectory.parameters.values()))
        forms = {
            read(file.path, file.text)[0]
            for file in files
            if file.text is not None and (seen or file.path in lasting or file.path in told)
        }
        found.update("drawing" if form == _DRAWING else "records" for form in forms - {FALLBACK})
    return frozenset(found)
