"""Putting a catalogue entry into another world: its fixtures, prepared files, manual and parameter sets; and
what a kind of world must pass before tasks are made in it."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from taskloom.resources.applications import Application, BrowserState, ExampleSubtask, Fixture
from taskloom.resources.assets import ASSET_PREFIX, PACKED_PREFIX, content_of, packed_contents
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.reading.catalog_checks import check_links
from taskloom.resources.reading.worlds import (
    WorldRules,
    draw_world,
    drawn_problems,
    load_world,
    rule_problems,
)
from taskloom.resources.worlds import FIRST_WORLD, World

_PICTURES = ("svg", "png", "zip")
"""Endings of a world's pictures and their archives; a text of the same name has the others."""
_ENDINGS = "txt csv json md tid svg png excalidraw drawio pdf xopp planner zip xhb html odt docx"
_TEXTS = tuple(
    f".{ending}"
    for ending in (*_ENDINGS.split(), "beancount", "sql", "conf")
    if ending not in ("png", "zip", "odt", "docx")
)
_BARE = re.compile(r"[a-z]+")
_ONE_WORD = re.compile(r"[A-Za-z]+")
_STRING_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


class Translation:
    """Says in the words of one world what the catalogue says in those of the first."""

    def __init__(self, first: World, world: World) -> None:
        self._exact = {text: world.labels[place] for place, text in first.labels.items()}
        self._terms = dict(zip(_terms(first), _terms(world), strict=True))
        self._terms |= {text: text for text in first.unchanged}
        longest_first = sorted(self._terms, key=len, reverse=True)
        self._pattern = _pattern(longest_first)
        self._single = [term for term in longest_first if _ONE_WORD.fullmatch(term)]

    def value(self, text: str) -> str:
        """A parameter value, path or name in the words of the world."""
        return self._exact[text] if text in self._exact else self.text(text)

    def text(self, text: str) -> str:
        """A longer text with every term exchanged; words in lower case only where they can be nothing but a
        name."""
        return self._pattern.sub(lambda match: self._terms[match.group()], text)

    def json(self, text: str) -> str:
        """JSON with the terms in its strings exchanged and its layout kept."""

        def translated(match: re.Match[str]) -> str:
            before = str(json.loads(match.group()))
            after = self.text(before)
            return match.group() if after == before else json.dumps(after, ensure_ascii=False)

        return _STRING_LITERAL.sub(translated, text)

    def manual(self, text: str, names: Collection[str]) -> str:
        """A manual; single words only where they are among `names`, because manuals are full of ordinary
        words."""
        words = {name for name in self._single if name not in names}

        def translated(match: re.Match[str]) -> str:
            ordinary = match.group() in words and not match.string[: match.start()].endswith("/")
            return match.group() if ordinary else self._terms[match.group()]

        text = self._pattern.sub(translated, text)
        for name in self._single:
            if name in names and _BARE.fullmatch(name):
                text = re.sub(rf"(?<![\w/]){name}(?=\s*[(,:;]|\.\s)", self._terms[name], text)
        return text

    def application(self, application: Application, world: str) -> Application:
        """The entry with the data of the world."""
        translated = application.model_copy(
            update={
                "world": world,
                "fixtures": tuple(self._fixture(item, application) for item in application.fixtures),
                "preparation": application.preparation.model_copy(
                    update={
                        "files": {
                            self.value(path): self._content(text, path, application)
                            for path, text in application.preparation.files.items()
                        }
                    }
                ),
                "launch": application.launch.model_copy(
                    update={"browser_state": self._browser_state(application.launch.browser_state)}
                ),
                "example_subtasks": tuple(map(self._example, application.example_subtasks)),
            }
        )
        sets = (values for item in application.example_subtasks for values in item.parameter_sets)
        names = {item.value for item in application.fixtures}.union(*(values.values() for values in sets))
        return translated.model_copy(update={"manual": self.manual(application.manual, names)})

    def _example(self, example: ExampleSubtask) -> ExampleSubtask:
        sets = tuple(map(self.parameters, example.parameter_sets))
        return example.model_copy(update={"parameter_sets": sets})

    def _fixture(self, fixture: Fixture, application: Application) -> Fixture:
        content = self._content(fixture.content, fixture.value, application)
        return fixture.model_copy(update={"value": self.value(fixture.value), "content": content})

    def _browser_state(self, state: BrowserState) -> BrowserState:
        return BrowserState(
            cookies={name: self.value(value) for name, value in state.cookies.items()},
            local_storage={key: self.json(self.value(text)) for key, text in state.local_storage.items()},
            session_storage={key: self.json(self.value(text)) for key, text in state.session_storage.items()},
            script=self.text(state.script),
        )

    def _content(self, text: str, path: str, application: Application) -> str:
        """The content translated; an asset that holds no term, or is no text, stays an asset."""
        if text.startswith(PACKED_PREFIX):
            held = packed_contents(text).items()
            packed = {self.value(name): self._content(content, name, application) for name, content in held}
            return PACKED_PREFIX + json.dumps(packed, ensure_ascii=False)
        if not text.startswith(ASSET_PREFIX):
            return self.text(text)
        name = text.removeprefix(ASSET_PREFIX).strip()
        if not name.endswith(_TEXTS):
            return text
        try:
            before = content_of(text, application).decode()
        except UnicodeDecodeError:  # such as a packed journal, which holds no term that could be found
            return text
        after = self.json(before) if name.endswith((".json", ".excalidraw")) else self.text(before)
        return text if after == before else after

    def parameters(self, values: Mapping[str, str]) -> dict[str, str]:
        """A parameter set in the words of the world."""
        return {name: self.value(value) for name, value in values.items()}


class WorldlyApplications(Mapping[str, Application]):
    """Applications by name, in the first world; `applications_in` gives them in others."""

    def __init__(
        self,
        applications: Mapping[str, Application],
        worlds: Collection[str],
        extra: Path | None = None,
        known: Mapping[str, World] | None = None,
    ) -> None:
        """The applications in the first world, and names of the worlds that are in use beside it.

        A user's catalogue folder `extra` may have further kinds. Worlds that are `known`, such as those kept
        with a dataset, need not be drawn anew; the first one, to whose words they correspond, is among them.
        """
        self._applications = dict(applications)
        self._extra = extra
        self._known = known or {}
        self._translations: dict[str, Translation] = {}
        self._in_world: dict[str, dict[str, Application]] = {FIRST_WORLD: self._applications}
        self.worlds = (FIRST_WORLD, *dict.fromkeys(worlds))
        for name in self.worlds[1:]:
            self._translation(name)

    def __getitem__(self, name: str) -> Application:
        return self._applications[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._applications)

    def __len__(self) -> int:
        return len(self._applications)

    def replace(self, application: Application) -> None:
        """Take `application` in the place of the one of its name, in all worlds."""
        self._applications[application.name] = application
        self._in_world = {FIRST_WORLD: self._applications}

    def in_world(self, world: str) -> Mapping[str, Application]:
        """The applications in `world`, in use or not; those with data of their own stay the same."""
        if world not in self._in_world:
            translation = self._translation(world)
            self._in_world[world] = {
                name: translation.application(item, world) if item.has_worlds else item
                for name, item in self._applications.items()
            }
        return self._in_world[world]

    def parameters(self, values: Mapping[str, str], world: str) -> dict[str, str]:
        """A parameter set of the first world, in the words of `world`."""
        return dict(values) if world == FIRST_WORLD else self._translation(world).parameters(values)

    def _translation(self, world: str) -> Translation:
        if world not in self._translations:
            self._translations[world] = Translation(*self._pair(world))
        return self._translations[world]

    def _pair(self, world: str) -> tuple[World, World]:
        """The first world and `world`, both kept or both drawn: they name the same things."""
        if world in self._known and FIRST_WORLD in self._known:
            return self._known[FIRST_WORLD], self._known[world]
        return load_world(FIRST_WORLD, self._extra), load_world(world, self._extra)

    def records(self) -> tuple[World, ...]:
        """The worlds in use, the first one too, to be kept with a dataset; nothing where only the first is in
        use."""
        if len(self.worlds) == 1:
            return ()
        first, _ = self._pair(self.worlds[1])
        return (first, *(self._pair(name)[1] for name in self.worlds[1:]))


def world_records(applications: Mapping[str, Application]) -> tuple[World, ...]:
    """The worlds in use with `applications`, the first one too; nothing where only the first is in use."""
    return applications.records() if isinstance(applications, WorldlyApplications) else ()


def applications_in(applications: Mapping[str, Application], world: str) -> Mapping[str, Application]:
    """`applications` with the data of `world`; an `UnknownCatalogEntryError` if they cannot be in it."""
    if isinstance(applications, WorldlyApplications):
        return applications.in_world(world)
    if world == FIRST_WORLD:
        return applications
    raise UnknownCatalogEntryError("world", world, [])


def parameters_in(
    applications: Mapping[str, Application], values: Mapping[str, str], world: str
) -> dict[str, str]:
    """A parameter set of the first world in the words of `world`; errors as `applications_in`."""
    if isinstance(applications, WorldlyApplications):
        return applications.parameters(values, world)
    if world == FIRST_WORLD:
        return dict(values)
    raise UnknownCatalogEntryError("world", world, [])


def worlds_of(applications: Mapping[str, Application]) -> tuple[str, ...]:
    """Names of the worlds that are in use with `applications`, the first one first."""
    return applications.worlds if isinstance(applications, WorldlyApplications) else (FIRST_WORLD,)


def _terms(world: World) -> Iterator[str]:
    """All terms of a world, in the same order for every world: those that follow from others, then those that
    are named."""
    for place, text in world.terms.items():
        attribute = place.rpartition(".")[2]
        if attribute == "file":
            stem = text.rpartition(".")[0]
            pictures = place.startswith("images.")
            yield from (f"{stem}.{ending}" for ending in (_PICTURES if pictures else _ENDINGS.split()))
        elif attribute == "header":
            yield text.replace(",", ", ")
        elif place.startswith("tables.") and attribute == "name":
            yield f"{text}-export"
    yield from world.terms.values()


def _pattern(terms: Sequence[str]) -> re.Pattern[str]:
    """Finds terms that stand alone, the longest first; a plain word in lower case only in paths and
    statements.

    Branches begin with a letter and the terms that share it, which keeps the search fast. A written line
    break in source code counts as a boundary. The path of a folder is not found in that of a file:
    Documents/projects.txt.
    """
    by_letter: dict[str, list[str]] = {}
    for term in terms:
        if not _BARE.fullmatch(term):
            folder_only = r"(?!\.[a-z])" if "/" in term and "." not in term else ""
            by_letter.setdefault(term[0], []).append(re.escape(term[1:]) + folder_only)
    branches = "|".join(f"{re.escape(letter)}(?:{'|'.join(ends)})" for letter, ends in by_letter.items())
    bare = "|".join(term for term in terms if _BARE.fullmatch(term))
    before = r"(?:(?<![\s\S])|(?<=/)|(?<=FROM )|(?<=INTO )|(?<=TABLE ))"
    return re.compile(
        rf"(?:(?<![A-Za-z0-9_])|(?<=\\n))(?:{branches})(?![A-Za-z0-9_])|{before}(?:{bare})(?=[-.,;"
        r" (]|(?![\s\S]))"
    )


_SEEDS = range(1, 21)
"""Worlds whose terms are looked at, beside one for every word of the draws."""
_INTO = (1, 7)
"""Worlds that the whole catalogue is put into."""


def world_problems(
    rules: WorldRules,
    first: WorldRules,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> tuple[str, ...]:
    """Everything wrong with a kind of world, each with its place; empty if tasks can be made in it.

    The kind of the `first` world says what must be named; `applications` are those of the first world.
    """
    found = list(map(str, rule_problems(rules, first)))
    if found:
        return tuple(found)
    words = range(max((len(words) for words in rules.draws.values()), default=0))
    worlds = [*(draw_world(rules, seed) for seed in _SEEDS), *(draw_world(rules, 1, word) for word in words)]
    found = [str(item) for world in worlds for item in drawn_problems(world)]
    if not found:
        home = draw_world(first, 0)
        for seed in _INTO:
            found += _problems_in(home, draw_world(rules, seed), applications, categories)
    return tuple(dict.fromkeys(found))


def _problems_in(
    home: World,
    world: World,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> Iterator[str]:
    translation = Translation(home, world)
    there = [
        translation.application(item, world.name)
        for item in applications.values()
        if item.has_worlds and item.world == FIRST_WORLD
    ]
    for name, problems in check_links(there, categories).items():
        yield from (f"{world.name}, {name}, {item}" for item in problems)
    for item in there:
        before = applications[item.name]
        found = (*_repeated(item, before), *_left_over(item, home), *_unreadable(item, before))
        yield from (f"{world.name}, {item.name}: {text}" for text in found)


def _repeated(application: Application, before: Application) -> Iterator[str]:
    """Subtasks of which two parameter sets have become the same."""
    for subtask, earlier in zip(application.example_subtasks, before.example_subtasks, strict=True):
        sets = {tuple(sorted(values.items())) for values in subtask.parameter_sets}
        if len(sets) < len({tuple(sorted(values.items())) for values in earlier.parameter_sets}):
            yield f"two parameter sets of {subtask.name} have become the same"


def _left_over(application: Application, home: World) -> Iterator[str]:
    """Fixtures that still have their name of the first world."""
    names = set(home.terms.values()) - set(home.unchanged)
    for fixture in application.fixtures:
        if fixture.value in names or fixture.value.rpartition("/")[2] in names:
            yield f"{fixture.value!r} still has its name of the first world; give it another one"


def _unreadable(application: Application, before: Application) -> Iterator[str]:
    """Files of JSON and Python that were right and no longer are."""
    files = {item.value: item.content for item in application.fixtures if item.content}
    files |= application.preparation.files
    for path, text in files.items():
        if not path.endswith((".json", ".excalidraw", ".py")):
            continue
        content = content_of(text, application)
        try:
            compile(content, path, "exec") if path.endswith(".py") else json.loads(content)
        except ValueError as error:
            yield f"{path} cannot be read any more: {error}"
        except SyntaxError as error:
            yield f"{path} is no Python any more: {error.msg}, line {error.lineno}"
