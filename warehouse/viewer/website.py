"""What every page needs: the warehouse, the templates, and counts that were made before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from fastapi.responses import HTMLResponse

from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.memory import Memory
from taskloom.warehouse.viewer.package_files import page_templates

_SECONDS_UNVERSIONED = 15.0
PRESENT = "present state"
"""What the state that no version names is called."""
NAVIGATION = (
    ("Overview", "/", "o"),
    ("Complexity", "/complexity", "c"),
    ("Tasks", "/tasks", "t"),
    ("Subtasks", "/subtasks", "s"),
    ("Agents", "/experiments", "a"),
    ("Costs", "/costs", "m"),
    ("Review", "/review", "r"),
    ("SQL", "/sql", "q"),
)
"""Pages of the top row: title, path, and the key that opens it after `g`."""


class Site:
    """The warehouse as a site. May be used from several threads."""

    def __init__(
        self,
        store: Warehouse,
        at: str = "",
        versions: Callable[[], Sequence[tuple[str, str]]] = tuple,
    ) -> None:
        """Show `store`, which stays the caller's to close, below the path `at`.

        `versions` gives the names of what else can be shown, each with its path.
        """
        self.store = store
        self.at = at
        """What addresses of these pages begin with."""
        self._versions = versions
        self.memory = Memory(None if store.version else _SECONDS_UNVERSIONED)
        self._passing = Memory(_SECONDS_UNVERSIONED)
        self._templates = page_templates()

    def page(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """A rendered page; every value is escaped unless its template says otherwise."""
        text = self._templates.get_template(template).render(
            navigation=NAVIGATION,
            version=self.store.version or PRESENT,
            versions_known=self._passing.get("versions", self._versions),
            at=self.at,
            **values,
        )
        return HTMLResponse(text, status_code=status)


def address(path: str, query: Mapping[str, str]) -> str:
    """A path with those parameters that are not empty.

    >>> address("/tasks", {"text": "a&b", "status": ""})
    '/tasks?text=a%26b'
    """
    given = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{given}" if given else path
