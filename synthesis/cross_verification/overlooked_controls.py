"""Work that an instruction ends with by the name of a control, and that a performance never touched.

Performances that stop early at one place agree with each other: they are doubted once, which rejects nothing.
"""

import re
from collections.abc import Iterable
from itertools import chain

from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.taskgraph.text_folding import fold_label

_PRESSED = frozenset({"Button", "Custom", "MenuItem", "SplitButton"})
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”")
_CLAUSE_HEAD = re.compile(r"(?:^|[,;.:]|\band\b|\bthen\b)\s*(?:and |then )?([^\W\d_]+)")


def overlooked(trajectory: Trajectory) -> tuple[str, ...]:
    """Texts of buttons that screens showed and that the instruction's last clause begins with, if none was
    used."""
    asked = last_clause_head(trajectory.instruction)
    if any(step.target is not None and fold_label(step.target.text) == asked for step in trajectory.steps):
        return ()
    screens = (*(step.observation_controls for step in trajectory.steps), trajectory.final_evidence.controls)
    pressed = (item.text for item in chain(*screens) if item.control_type in _PRESSED)
    return tuple(dict.fromkeys(text for text in pressed if asked and fold_label(text) == asked))


def last_clause_head(instruction: str) -> str:
    """The word that the last clause of an instruction begins with, folded; quoted values are no clauses.

    >>> last_clause_head("In Player, play the track 'Tide, and more', and pause it.")
    'pause'
    >>> last_clause_head("")
    ''
    """
    heads = _CLAUSE_HEAD.findall(_QUOTED.sub("", instruction))
    return fold_label(heads[-1]) if heads else ""


def doubt(trajectories: Iterable[Trajectory]) -> str:
    """What to tell the actor about controls that all of `trajectories` overlooked; empty if there are
    none."""
    found = [set(overlooked(trajectory)) for trajectory in trajectories]
    names = set.intersection(*found) if found else set[str]()
    if not names:
        return ""
    listed = ", ".join(map(repr, sorted(names)))
    return (
        f"the screen showed {listed}, which the instruction seems to name and which was never used: make sure"
        " that everything the instruction asks for is done before you finish"
    )
