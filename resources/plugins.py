"""How everything that is chosen by name is found: the modules of a folder, keyed by their names, and what
other packages bring by entry points. Nothing is imported before it is asked for, so that an absent
dependency, or a package that is broken, costs nothing else.
"""

import ast
import logging
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from taskloom.resources.errors import PluginBrokenError, TaskloomError, no_such

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_LOG = logging.getLogger("taskloom.plugins")
Offers_co = TypeVar("Offers_co", covariant=True)


@dataclass(frozen=True, slots=True)
class PluginKind(Generic[Offers_co]):
    """One kind of things that are found by name, each of which offers what the type parameter says."""

    noun: str
    """What one is called in messages."""
    unknown: Callable[[str], TaskloomError]
    """Makes the error for a name that nothing has."""
    folder: str = ""
    """Package whose modules are the built-in ones, keyed by their names; empty where there are none."""
    group: str = ""
    """Group of entry points by which other packages bring more; empty where they cannot."""
    module: str = ""
    """The module inside each folder of `folder`, where one is a folder of its own."""
    needs: tuple[str, ...] = ()
    """What each of them must define."""
    table: str = ""
    """Module whose `ROWS` are further built-in ones by name, each with a `description`; empty for none."""
    functions: tuple[str, ...] = ()
    """The names in `ROWS` where each is a function of that module, which is then read, not imported, to
    describe them."""

    def built_in(self) -> tuple[str, ...]:
        """Names of the built-in ones, sorted; no module of the folder is imported."""
        modules = pkgutil.iter_modules(import_module(self.folder).__path__) if self.folder else ()
        return tuple(sorted([*(item.name for item in modules), *(self.functions or self._rows())]))

    def names(self) -> tuple[str, ...]:
        """All names, sorted; none is imported."""
        return tuple(sorted({*self.built_in(), *self.brought()}))

    def brought(self) -> dict[str, tuple["EntryPoint", ...]]:
        """The entry points of other packages by name; more than one where packages disagree."""
        found: dict[str, tuple[EntryPoint, ...]] = {}
        for entry in _entries(self.group, tuple(sys.path)) if self.group else ():
            found[entry.name] = (*found.get(entry.name, ()), entry)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.built_in() or name in self.brought()

    def load(self, name: str) -> Offers_co:
        """The one called `name`, imported now.

        Raises:
            TaskloomError: `unknown`: nothing has this name; the nearest and all known names are given.
            PluginBrokenError: the package that brings it is broken; it is named.
        """
        if name in self.functions or (not self.functions and name in self._rows()):
            return cast(Offers_co, self._rows()[name])
        if name in self.built_in():
            return cast(Offers_co, import_module(".".join(filter(None, (self.folder, name, self.module)))))
        brought = self.brought()
        if name in brought:
            return self._load(brought[name])
        raise self.unknown(no_such(self.noun, name, self.names()))

    def each(self) -> Iterator[tuple[str, Offers_co]]:
        """All of them by name; a broken package is named once in the log and left out."""
        for name in self.names():
            try:
                found = self.load(name)
            except PluginBrokenError as error:
                report(str(error))
            else:
                yield name, found

    def described(self) -> list[dict[str, str]]:
        """Name and description of each: the first sentence of its docstring, or why it cannot be loaded."""
        texts = ((name, self.text_of(name).partition("\n\n")[0]) for name in self.names())
        return [{"name": name, "description": text.replace("\n", " ").strip()} for name, text in texts]

    def text_of(self, name: str) -> str:
        """The docstring of the one called `name`, or why it cannot be loaded.

        Built-in modules are read, not imported: what one of them needs may be absent.
        """
        if name in self.functions:
            package, _, module = self.table.rpartition(".")
            tree = _tree(package, f"{module}.py")
            found = (item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == name)
            return ast.get_docstring(next(found)) or ""
        if not self.functions and name in (rows := self._rows()):
            return str(rows[name].description)
        if name in self.built_in():
            place = f"{name}/{self.module}.py" if self.module else f"{name}.py"
            return ast.get_docstring(_tree(self.folder, place)) or ""
        try:
            return self.load(name).__doc__ or ""
        except PluginBrokenError as error:
            return str(error)

    def package_of(self, name: str) -> str:
        """The package that brings `name`; empty for a built-in one."""
        return _packages(self.brought().get(name, ()))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Names and problems of what other packages bring."""
        built_in = self.built_in()
        for name, entries in self.brought().items():
            if name in built_in:
                yield name, f"taskloom's own {self.noun} has this name, and is used instead"
                continue
            try:
                self._load(entries)
            except PluginBrokenError as error:
                yield name, str(error)

    def _load(self, entries: "tuple[EntryPoint, ...]") -> Offers_co:
        what = f"The {self.noun} {entries[0].name!r} of the package {_packages(entries)}"
        if len(entries) > 1:
            raise PluginBrokenError(f"{what} is brought by several packages; uninstall all but one.")
        try:
            found: Offers_co = entries[0].load()
        except (Exception, SystemExit) as error:
            raise PluginBrokenError(f"{what} cannot be loaded: {type(error).__name__}: {error}") from error
        lacking = [name for name in self.needs if not hasattr(found, name)]
        if lacking:
            raise PluginBrokenError(f"{what} ({entries[0].value}) does not define {' and '.join(lacking)}.")
        return found

    def _rows(self) -> Mapping[str, Any]:
        return import_module(self.table).ROWS if self.table else {}


def _tree(package: str, place: str) -> ast.Module:
    from importlib.resources import files

    return ast.parse(files(package).joinpath(place).read_text("utf-8"))


@cache
def report(problem: str) -> None:
    """Log a problem with another package, once."""
    _LOG.warning(problem)


@cache
def _entries(group: str, _: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """Entry points of a group, for one search path."""
    from importlib.metadata import entry_points  # a tenth of what `taskloom --help` takes

    return tuple(entry_points(group=group))


def _packages(entries: "tuple[EntryPoint, ...]") -> str:
    return " and ".join(entry.dist.name if entry.dist is not None else "?" for entry in entries)
