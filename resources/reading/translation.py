"""Translates a catalogue entry into another world: its fixtures, prepared files, manual and parameter sets;
and checks a kind of world before tasks are made in it."""

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
"""Suffixes of a world's pictures and their archives; texts of the same name have the other suffixes."""
_ENDINGS = "txt csv json md tid svg png excalidraw drawio pdf xopp planner zip xhb html odt docx"
_TEXTS = tuple(
    f".{ending}"
    for ending in (*_ENDINGS.split(), "beancount", "sql", "conf")
    if ending not in ("png", "zip", "odt", "docx")
)
_LOWERCASE_WORD = re.compile(r"[a-z]+")
_ONE_WORD = re.compile(r"[A-Za-z]+")
_STRING_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


class Translation:
    """Translates the catalogue from the terms of the first world into those of another."""

    def __init__(self, first: World, world: World) -> None:
        self._exact = {text: world.labels[place] for place, text in first.labels.items()}
        self._terms = dict(zip(_terms(first), _terms(world), strict=True))
        self._terms |= {text: text for text in first.unchanged}
        longest_first = sorted(self._terms, key=len, reverse=True)
        self._pattern = _pattern(longest_first)
        self._single = [term for term in longest_first if _ONE_WORD.fullmatch(term)]

    def value(self, text: str) -> str:
        """A parameter value, path or name in the terms of the world."""
        return self._exact[text] if text in self._exact else self.text(text)

    def text(self, text: str) -> str:
        """A longer text with every term replaced; lower-case words only where they must be names."""
        return self._pattern.sub(lambda match: self._terms[match.group()], text)

    def json(self, text: str) -> str:
        """JSON with the terms in its strings replaced and its layout unchanged."""

        def translate(match: re.Match[str]) -> str:
            before = str(json.loads(match.group()))
            after = self.text(before)
            return match.group() if after == before else json.dumps(after, ensure_ascii=False)

        return _STRING_LITERAL.sub(translate, text)

    def manual(self, text: str, names: Collection[str]) -> str:
        """A manual; single words only if among `names`, because manuals are full of ordinary words."""
        words = {name for name in self._single if name not in names}

        def translate(match: re.Match[str]) -> str:
            is_ordinary = match.group() in words and not match.string[: match.start()].endswith("/")
            return match.group() if is_ordinary else self._terms[match.group()]

        text = self._pattern.sub(translate, text)
        for name in self._single:
            if name in names and _LOWERCASE_WORD.fullmatch(name):
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
        """The translated content; an asset that contains no term, or is not text, stays an asset."""
        if text.startswith(PACKED_PREFIX):
            members = packed_contents(text).items()
            contents = {self.value(name): self._content(item, name, application) for name, item in members}
            return PACKED_PREFIX + json.dumps(contents, ensure_ascii=False)
        if not text.startswith(ASSET_PREFIX):
            return self.text(text)
        name = text.removeprefix(ASSET_PREFIX).strip()
        if not name.endswith(_TEXTS):
            return text
        try:
            before = content_of(text, application).decode()
        except UnicodeDecodeError:  # such as a compressed journal, in which no term can be found
            return text
        after = self.json(before) if name.endswith((".json", ".excalidraw")) else self.text(before)
        return text if after == before else after

    def parameters(self, values: Mapping[str, str]) -> dict[str, str]:
        """A parameter set in the terms of the world."""
        return {name: self.value(value) for name, value in values.items()}


class WorldlyApplications(Mapping[str, Application]):
    """Applications by name, in the first world; `applications_in` returns them in others."""

    def __init__(
        self,
        applications: Mapping[str, Application],
        worlds: Collection[str],
        extra: Path | None = None,
        known: Mapping[str, World] | None = None,
    ) -> None:
        """The applications in the first world, and names of the other worlds in use.

        A user's catalogue folder `extra` may have further kinds. `known` worlds, such as those stored with a
        dataset, are not drawn again; they include the first world, whose terms they correspond to.
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
        """Replace the application of the same name, in all worlds."""
        self._applications[application.name] = application
        self._in_world = {FIRST_WORLD: self._applications}

    def in_world(self, world: str) -> Mapping[str, Application]:
        """The applications in `world`, whether in use or not; simulated ones stay the same."""
        if world not in self._in_world:
            translation = self._translation(world)
            self._in_world[world] = {
                name: translation.application(item, world) if item.has_worlds else item
                for name, item in self._applications.items()
            }
        return self._in_world[world]

    def parameters(self, values: Mapping[str, str], world: str) -> dict[str, str]:
        """A parameter set of the first world, in the terms of `world`."""
        return dict(values) if world == FIRST_WORLD else self._translation(world).parameters(values)

    def _translation(self, world: str) -> Translation:
        if world not in self._translations:
            self._translations[world] = Translation(*self._pair(world))
        return self._translations[world]

    def _pair(self, world: str) -> tuple[World, World]:
        """The first world and `world`, either both known or both drawn, so that their terms correspond."""
        if world in self._known and FIRST_WORLD in self._known:
            return self._known[FIRST_WORLD], self._known[world]
        return load_world(FIRST_WORLD, self._extra), load_world(world, self._extra)

    def records(self) -> tuple[World, ...]:
        """The worlds in use, including the first, to be stored with a dataset; empty if only the first is in
        use."""
        if len(self.worlds) == 1:
            return ()
        first, _ = self._pair(self.worlds[1])
        return (first, *(self._pair(name)[1] for name in self.worlds[1:]))


def world_records(applications: Mapping[str, Application]) -> tuple[World, ...]:
    """The worlds in use with `applications`, including the first; empty if only the first is in use."""
    return applications.records() if isinstance(applications, WorldlyApplications) else ()


def applications_in(applications: Mapping[str, Application], world: str) -> Mapping[str, Application]:
    """`applications` with the data of `world`; an `UnknownCatalogEntryError` if they have only the first."""
    if isinstance(applications, WorldlyApplications):
        return applications.in_world(world)
    if world == FIRST_WORLD:
        return applications
    raise UnknownCatalogEntryError("world", world, [])


def parameters_in(
    applications: Mapping[str, Application], values: Mapping[str, str], world: str
) -> dict[str, str]:
    """A parameter set of the first world in the terms of `world`; errors as in `applications_in`."""
    if isinstance(applications, WorldlyApplications):
        return applications.parameters(values, world)
    if world == FIRST_WORLD:
        return dict(values)
    raise UnknownCatalogEntryError("world", world, [])


def worlds_of(applications: Mapping[str, Application]) -> tuple[str, ...]:
    """Names of the worlds that are in use with `applications`, beginning with the first."""
    return applications.worlds if isinstance(applications, WorldlyApplications) else (FIRST_WORLD,)


def _terms(world: World) -> Iterator[str]:
    """All terms of a world, in the same order for every world: derived ones, then those of the rules."""
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
    """A pattern for terms that stand alone, longest first; lower-case words only in paths and statements.

    Terms are grouped by their first letter, which keeps the search fast. An escaped line break in source code
    is a boundary. The path of a folder is not found in that of a file: Documents/projects.txt.
    """
    by_letter: dict[str, list[str]] = {}
    for term in terms:
        if not _LOWERCASE_WORD.fullmatch(term):
            folder_only = r"(?!\.[a-z])" if "/" in term and "." not in term else ""
            by_letter.setdefault(term[0], []).append(re.escape(term[1:]) + folder_only)
    branches = "|".join(f"{re.escape(letter)}(?:{'|'.join(rests)})" for letter, rests in by_letter.items())
    words = "|".join(term for term in terms if _LOWERCASE_WORD.fullmatch(term))
    before = r"(?:(?<![\s\S])|(?<=/)|(?<=FROM )|(?<=INTO )|(?<=TABLE ))"
    return re.compile(
        rf"(?:(?<![A-Za-z0-9_])|(?<=\\n))(?:{branches})(?![A-Za-z0-9_])|{before}(?:{words})(?=[-.,;"
        r" (]|(?![\s\S]))"
    )


_DRAWN_SEEDS = range(1, 21)
"""Seeds of worlds whose terms are checked, besides one world for every word of the draws."""
_FULLY_CHECKED_SEEDS = (1, 7)
"""Seeds of worlds into which the whole catalogue is translated."""


def world_problems(
    rules: WorldRules,
    first: WorldRules,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> tuple[str, ...]:
    """All problems of a kind of world, each with its place; empty if tasks can be made in it.

    The kind of the `first` world determines what must be named; `applications` are those of the first world.
    """
    problems = list(map(str, rule_problems(rules, first)))
    if problems:
        return tuple(problems)
    numbers = range(max((len(words) for words in rules.draws.values()), default=0))
    worlds = [draw_world(rules, seed) for seed in _DRAWN_SEEDS]
    worlds += [draw_world(rules, 1, number) for number in numbers]
    problems = [str(item) for world in worlds for item in drawn_problems(world)]
    if not problems:
        first_world = draw_world(first, 0)
        for seed in _FULLY_CHECKED_SEEDS:
            problems += _translation_problems(first_world, draw_world(rules, seed), applications, categories)
    return tuple(dict.fromkeys(problems))


def _translation_problems(
    first: World,
    world: World,
    applications: Mapping[str, Application],
    categories: Mapping[str, ResourceCategory],
) -> Iterator[str]:
    translation = Translation(first, world)
    translated = [
        translation.application(item, world.name)
        for item in applications.values()
        if item.has_worlds and item.world == FIRST_WORLD
    ]
    for name, problems in check_links(translated, categories).items():
        yield from (f"{world.name}, {name}, {item}" for item in problems)
    for item in translated:
        messages = (
            *_repeated_sets(item, applications[item.name]),
            *_untranslated_fixtures(item, first),
            *_unreadable_files(item),
        )
        yield from (f"{world.name}, {item.name}: {message}" for message in messages)


def _repeated_sets(application: Application, before: Application) -> Iterator[str]:
    """Subtasks with two parameter sets that have become equal."""
    for subtask, earlier in zip(application.example_subtasks, before.example_subtasks, strict=True):
        sets = {tuple(sorted(values.items())) for values in subtask.parameter_sets}
        if len(sets) < len({tuple(sorted(values.items())) for values in earlier.parameter_sets}):
            yield f"two parameter sets of {subtask.name} have become the same"


def _untranslated_fixtures(application: Application, first: World) -> Iterator[str]:
    """Fixtures that still have their name from the first world."""
    names = set(first.terms.values()) - set(first.unchanged)
    for fixture in application.fixtures:
        if fixture.value in names or fixture.value.rpartition("/")[2] in names:
            yield f"{fixture.value!r} still has its name of the first world; give it another one"


def _unreadable_files(application: Application) -> Iterator[str]:
    """JSON and Python files that are no longer valid."""
    files = {item.value: item.content for item in application.fixtures if item.content}
    files |= application.preparation.files
    for path, text in files.items():
        if not path.endswith((".json", ".excalidraw", ".py")):
            continue
        content = content_of(text, application)
        try:
            compile(content, path, "exec") if path.endswith(".py") else json.loads(content)
        except ValueError as error:
            yield f"{path} is no longer readable: {error}"
        except SyntaxError as error:
            yield f"{path} is no longer valid Python: {error.msg}, line {error.lineno}"
