"""What the records around a change hold: by that, and not by its place, a record is the one that is meant."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import read
from taskloom.evaluators_api.state.templates import names_of, steady_path
from taskloom.taskgraph.records.effect import ANY
from taskloom.taskgraph.records.evidence import Evidence

_SHORTEST = 3
_MOST_HELD = 300


class HeldValues:
    """Looks for values of parameters at the start; or for certain texts, at the start and at the end."""

    def __init__(
        self, start: Evidence, end: Evidence, parameters: Mapping[str, str], texts: Collection[str] | None
    ) -> None:
        """With `texts`, these are looked for instead of the values of `parameters`."""
        names = names_of(parameters.items()) if texts is None else {text: text for text in texts}
        self._names = {value: name for value, name in names.items() if len(value) >= _SHORTEST}
        self._ends = (start,) if texts is None else (start, end)
        self._told: dict[str, set[str | None]] = {}

    def told(self, container: str, around: Sequence[Sequence[Node]]) -> tuple[str, ...]:
        """What the records `around`, each as it was and as it is, and files and folders under made-up names
        on the way to them, hold of what is looked for."""
        if not self._names or not container:
            return ()
        found = {
            node.value
            for record in around
            for state in record[: len(self._ends)]
            for _, node in islice(state.walk(), _MOST_HELD)
        }
        parts = container.split("/")
        for depth, part in enumerate(steady_path(container).split("/"), start=1):
            if ANY in part:
                found |= self._in("/".join(parts[:depth]))
        return tuple(sorted(name for value, name in self._names.items() if value in found))

    def _in(self, place: str) -> set[str | None]:
        """Values in the file at `place`, or in the files of that folder."""
        if place not in self._told:
            self._told[place] = {
                node.value
                for evidence in self._ends
                for file in evidence.files
                if place in (file.path, file.path.rpartition("/")[0]) and file.text is not None
                if any(value in file.text for value in self._names)
                for _, node in islice(read(file.path, file.text)[1].walk(), _MOST_HELD)
            }
        return self._told[place]
