"""Lookup of everything chosen by name: the modules of a folder by their names, and the entry points of other
packages. Nothing is imported before it is needed, so an absent dependency or a broken package affects nothing
else."""

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
    """One kind of plug-in; the type parameter is the interface of each plug-in."""

    noun: str
    """Name of the kind in messages."""
    unknown: Callable[[str], TaskloomError]
    """Makes the error for an unknown name."""
    folder: str = ""
    """Package whose modules are the built-in plug-ins by name; empty if there are none."""
    group: str = ""
    """Group of entry points by which other packages add plug-ins; empty if they cannot."""
    module: str = ""
    """The module in each folder of `folder`, if every plug-in is a folder."""
    needs: tuple[str, ...] = ()
    """Names that each plug-in must define."""
    table: str = ""
    """Module whose `ROWS` are further built-in plug-ins by name, each with a `description`."""
    functions: tuple[str, ...] = ()
    """Names in `ROWS` if each is a function of that module, which is then parsed, not imported, for the
    descriptions."""

    def built_in(self) -> tuple[str, ...]:
        """Names of the built-in plug-ins, sorted; no module of the folder is imported."""
        modules = pkgutil.iter_modules(import_module(self.folder).__path__) if self.folder else ()
        return tuple(sorted([*(item.name for item in modules), *(self.functions or self._rows())]))

    def names(self) -> tuple[str, ...]:
        """All names, sorted; none is imported."""
        return tuple(sorted({*self.built_in(), *self.brought()}))

    def brought(self) -> dict[str, tuple["EntryPoint", ...]]:
        """The entry points of other packages by name; several if packages use the same name."""
        entries: dict[str, tuple[EntryPoint, ...]] = {}
        for entry in _entries(self.group, tuple(sys.path)) if self.group else ():
            entries[entry.name] = (*entries.get(entry.name, ()), entry)
        return entries

    def __contains__(self, name: object) -> bool:
        return name in self.built_in() or name in self.brought()

    def load(self, name: str) -> Offers_co:
        """The plug-in called `name`, which is imported if necessary.

        Raises:
            TaskloomError: `unknown`: there is none; the nearest and all known names are given.
            PluginBrokenError: its package is broken; the package is named.
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
        """All plug-ins by name; a broken package is logged once and skipped."""
        for name in self.names():
            try:
                plugin = self.load(name)
            except PluginBrokenError as error:
                report(str(error))
            else:
                yield name, plugin

    def described(self) -> list[dict[str, str]]:
        """Name and description of each: the first sentence of its docstring, or why it cannot be loaded."""
        texts = ((name, self.text_of(name).partition("\n\n")[0]) for name in self.names())
        return [{"name": name, "description": text.replace("\n", " ").strip()} for name, text in texts]

    def text_of(self, name: str) -> str:
        """The docstring of the plug-in called `name`, or why it cannot be loaded.

        Built-in modules are parsed, not imported, because their dependencies may be absent.
        """
        if name in self.functions:
            package, _, module = self.table.rpartition(".")
            tree = _parse_module(package, f"{module}.py")
            matches = (item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == name)
            return ast.get_docstring(next(matches)) or ""
        if not self.functions and name in (rows := self._rows()):
            return str(rows[name].description)
        if name in self.built_in():
            path = f"{name}/{self.module}.py" if self.module else f"{name}.py"
            return ast.get_docstring(_parse_module(self.folder, path)) or ""
        try:
            return self.load(name).__doc__ or ""
        except PluginBrokenError as error:
            return str(error)

    def package_of(self, name: str) -> str:
        """The package of the plug-in `name`; empty for a built-in one."""
        return _packages(self.brought().get(name, ()))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Names and problems of the plug-ins of other packages."""
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
        subject = f"The {self.noun} {entries[0].name!r} of the package {_packages(entries)}"
        if len(entries) > 1:
            raise PluginBrokenError(f"{subject} is defined by several packages; uninstall all but one.")
        try:
            plugin: Offers_co = entries[0].load()
        except (Exception, SystemExit) as error:
            raise PluginBrokenError(f"{subject} cannot be loaded: {type(error).__name__}: {error}") from error
        missing = [name for name in self.needs if not hasattr(plugin, name)]
        if missing:
            raise PluginBrokenError(
                f"{subject} ({entries[0].value}) does not define {' and '.join(missing)}."
            )
        return plugin

    def _rows(self) -> Mapping[str, Any]:
        return import_module(self.table).ROWS if self.table else {}


def _parse_module(package: str, path: str) -> ast.Module:
    from importlib.resources import files

    return ast.parse(files(package).joinpath(path).read_text("utf-8"))


@cache
def report(problem: str) -> None:
    """Log a problem with another package, once."""
    _LOG.warning(problem)


@cache
def _entries(group: str, _: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """Entry points of a group, for one search path."""
    from importlib.metadata import entry_points  # takes a tenth of the time of `taskloom --help`

    return tuple(entry_points(group=group))


def _packages(entries: "tuple[EntryPoint, ...]") -> str:
    return " and ".join(entry.dist.name if entry.dist is not None else "?" for entry in entries)
