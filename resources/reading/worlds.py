"""Reads the rules of worlds, and draws worlds from them.

Names of people come from Faker, everything else from the rules. Equal kinds and seeds give equal worlds.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from random import Random

from faker import Faker
from pydantic import Field

from taskloom.resources.assets import catalog_folder
from taskloom.resources.errors import UnknownCatalogEntryError
from taskloom.resources.reading.yaml_reading import Problem, YamlFile, parse_entry, parse_list, read_file
from taskloom.resources.record import Record
from taskloom.resources.worlds import FIRST_WORLD, World, stem_of

FIRST_KIND = "office"
"""Kind of the first world, whose places every other kind must have."""
PHRASE = "phrase"
"""Attribute with the phrase for a thing; the only attribute that may be missing."""
USE = "use"
"""Attribute that says what a thing is needed for."""
_NAMES = ("title", "file", "name", "path")
_OTHER_NAMES = ("longer", "renamed", "newer", "count_job", "export_job")
"""Attributes whose values are names of the thing, or of others made from it."""
_HEAD_FIELDS = ("kind", "owner", "title", "description", "draws", "labels", "unchanged")
_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9]*)\}")
_WORLD_NAME = re.compile(r"([a-z][a-z0-9_]*)-([0-9]+)")
_PLAIN_WORD = re.compile(r"[A-Z][a-z]+")
_DRAW_NAME = re.compile(r"[a-z][a-z0-9]*")
_PEOPLE = 6
_NUMBERS = 9
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_SEASONS = ("Spring", "Summer", "Autumn", "Winter")
_TOWNS = """
Ashford Banbury Bedford Bolton Bradford Brighton Bristol Burnley Cambridge Canterbury Chester Colchester
Coventry Crawley Darlington Derby Doncaster Dover Durham Exeter Falmouth Gloucester Grantham Halifax
Hastings Hereford Ipswich Kendal Kettering Lancaster Leeds Leicester Lincoln Luton Maidstone Margate Newbury
Northampton Norwich Nottingham Oxford Penrith Peterborough Plymouth Portsmouth Preston Reading Rochester
Salisbury Scarborough Sheffield Shrewsbury Southampton Stafford Stamford Stockport Sunderland Swindon
Taunton Telford Wakefield Warwick Watford Whitby Winchester Worcester Worthing Yeovil
"""
"""Real towns, since invented cities look invented; single words that need no quotes."""
_FORMS = {
    "file": (r"[a-z][a-z0-9_]*\.[a-z]+", "a file name in lower case with an ending"),
    "path": (r"Documents/[a-z][a-z0-9_]*", "a folder of Documents in lower case"),
    "tables.name": (r"[a-z][a-z0-9_]*", "a table's name in lower case"),
    "pages.title": (r"([A-Z][a-z]+){2,}", "two or more capitalised words written as one"),
    "accounts.name": (r"Expenses:[A-Z][A-Za-z]+", "an account of Expenses"),
    "header": (r"[a-z]+,amount", "a column and `amount`"),
    USE: (
        r"the (?!.*\b(?:and|then)\b)[A-Za-z0-9](?:[A-Za-z0-9 '-]{0,48}[A-Za-z0-9])?",
        (
            "`the` and an occasion or a piece of work in the singular that goes on after `for`, such as `the"
            " tax return`; neither `and` nor a comma in it"
        ),
    ),
}
_ANY_FORM = (r"[A-Za-z0-9][A-Za-z0-9 ,.:_/-]*", "letters, digits, blanks and , . : _ / - only")


class WorldRules(Record):
    """The rules of one kind of world (`resources/catalog/worlds/<kind>.yaml`)."""

    kind: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Name of the kind, equal to that of the file."""
    owner: str
    """Phrase for the owner of the data."""
    title: str
    """The owner, distinguished from others of its kind."""
    description: str
    """One sentence about it."""
    draws: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Words to draw from, by the placeholder for the drawn word."""
    unchanged: tuple[str, ...] = ()
    """Values that stay unchanged in every world although they contain a term; listed by the first world."""
    groups: dict[str, dict[str, dict[str, str]]]
    """Its things by group, name and attribute; the same names for every kind."""
    labels: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Texts that occur in one place only, by group and name; the same names for every kind."""


class Occasion(Record):
    """An occasion for which some things of every world are needed (`resources/catalog/occasions.yaml`)."""

    name: str
    """Its name."""
    words: str
    """The thing whose use describes the occasion in a world."""
    things: tuple[str, ...]
    """The things, by group and name."""


@cache
def load_occasions() -> tuple[Occasion, ...]:
    """The occasions of all worlds."""
    return parse_list(read_file(catalog_folder() / "occasions.yaml", "occasions.yaml"), Occasion)


def world_kinds(extra: Path | None = None) -> tuple[str, ...]:
    """Kinds of worlds, except that of the first world."""
    return tuple(kind for kind in _rules(extra.resolve() if extra else None) if kind != FIRST_KIND)


def load_rules(kind: str = FIRST_KIND, extra: Path | None = None) -> WorldRules:
    """The rules of a kind of world; those of the first one by default.

    Raises:
        UnknownCatalogEntryError: there is no such kind (names the known ones).
        CatalogEntryInvalidError: the rules are wrong.
    """
    rules = _rules(extra.resolve() if extra else None)
    if kind not in rules:
        raise UnknownCatalogEntryError("kind of world", kind, world_kinds(extra))
    return rules[kind]


def load_world(name: str, extra: Path | None = None) -> World:
    """The world of this name, such as `bakery-3`: the kind's rules with the number as the seed.

    Raises:
        UnknownCatalogEntryError: there is no such kind (names the known ones), or the name has no number.
        CatalogEntryInvalidError: the rules are wrong.
    """
    rules = _rules(extra.resolve() if extra else None)
    if name == FIRST_WORLD:
        return draw_world(rules[FIRST_KIND], 0)
    match = _WORLD_NAME.fullmatch(name)
    if match is None or match.group(1) not in rules or match.group(1) == FIRST_KIND:
        known = [f"{kind}-1" for kind in world_kinds(extra)]
        raise UnknownCatalogEntryError("world", name, known)
    return draw_world(rules[match.group(1)], int(match.group(2)))


def draw_world(rules: WorldRules, seed: int, word: int | None = None) -> World:
    """The world of `rules` with `seed`; with `word`, every draw has the word of that number."""
    drawn = _draw(rules, seed, word)

    def fill(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: drawn[match.group(1)], text)

    terms, phrases = {}, {}
    uses: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    for group, things in rules.groups.items():
        for thing, attributes in things.items():
            values = {name: fill(text) for name, text in attributes.items()}
            phrase, use = values.pop(PHRASE, ""), values.pop(USE, "")
            for name, value in values.items():
                terms[f"{group}.{thing}.{name}"] = value
                if phrase and name in _NAMES:
                    phrases[value] = phrase
                if name in (*_NAMES, *_OTHER_NAMES):
                    names.setdefault(f"{group}.{thing}", []).append(stem_of(value))
                    if use:
                        uses.setdefault(stem_of(value), use)
    labels = {
        f"{group}.{name}": fill(text) for group, texts in rules.labels.items() for name, text in texts.items()
    }
    names |= {f"labels.{place}": [stem_of(text)] for place, text in labels.items()}
    occasions: dict[str, tuple[str, ...]] = {}
    for occasion in load_occasions():
        words = next((uses[value] for value in names.get(occasion.words, ()) if value in uses), occasion.name)
        for value in (value for thing in occasion.things for value in names.get(thing, ())):
            occasions[value] = tuple(dict.fromkeys((*occasions.get(value, ()), words)))
    return World(
        name=FIRST_WORLD if rules.kind == FIRST_KIND else f"{rules.kind}-{seed}",
        kind=rules.kind,
        owner=fill(rules.owner),
        title=fill(rules.title),
        description=fill(rules.description),
        terms=terms,
        labels=labels,
        unchanged=rules.unchanged,
        phrases=phrases,
        uses=uses,
        occasions=occasions,
    )


def read_rules(source: YamlFile, first: WorldRules | None) -> WorldRules:
    """The rules in a file, which must name the same things as those of the `first` kind.

    Raises:
        CatalogEntryInvalidError: they do not, a placeholder is unknown, or a drawn value is not allowed in
            its place.
    """
    content = source.content
    if not isinstance(content, dict):
        raise source.reject([Problem((), "must be a mapping")])
    head = {key: value for key, value in content.items() if key in _HEAD_FIELDS}
    groups = {key: value for key, value in content.items() if key not in _HEAD_FIELDS}
    rules = parse_entry(source, {**head, "groups": groups}, WorldRules)
    problems = list(rule_problems(rules, first or rules))
    if problems:
        raise source.reject(problems)
    return rules


def rule_problems(rules: WorldRules, first: WorldRules) -> Iterator[Problem]:
    """Problems in the rules of a kind: their places, placeholders, and one world drawn from them."""
    required, present = dict(_flatten(first)), dict(_flatten(rules))
    for place in required.keys() - present.keys():
        if place[-1] != PHRASE:
            yield Problem(place[:-1], f"lacks {place[-1]!r}; every kind of world names the same things")
    for place in present.keys() - required.keys():
        if place[-1] != PHRASE:
            yield Problem(place, "is not a place of the first world")
    common = {*_draw_common(0)}
    for name, words in rules.draws.items():
        if not _DRAW_NAME.fullmatch(name) or name in common:
            yield Problem(
                ("draws", name),
                "must be lower-case letters and digits, and must not be a placeholder common to all kinds",
            )
        if not words or not all(word.strip() for word in words):
            yield Problem(("draws", name), "needs words to draw from, none of them empty")
            return
    known = {*common, *rules.draws, *(name.capitalize() for name in rules.draws)}
    texts: list[tuple[tuple[str, ...], str]] = [
        *present.items(),
        (("owner",), rules.owner),
        (("title",), rules.title),
        (("description",), rules.description),
    ]
    placeholders = [(field, name) for field, text in texts for name in _PLACEHOLDER.findall(text)]
    unknown = [(field, name) for field, name in placeholders if name not in known]
    for field, name in unknown:
        yield Problem(field, f"the placeholder {name!r} is unknown; known: {', '.join(sorted(known))}")
    if not unknown:
        yield from drawn_problems(draw_world(rules, 1))


def drawn_problems(world: World) -> Iterator[Problem]:
    """Problems of one world: terms and uses in a form that is not allowed, and names that occur twice."""
    form, words = _FORMS[USE]
    for name, use in world.uses.items():
        if not re.fullmatch(form, use):
            yield Problem(("uses", name), f"{use!r} must be {words}")
    seen: dict[str, str] = {}
    for key, value in world.terms.items():
        group, thing, attribute = key.split(".")
        form, words = _FORMS.get(f"{group}.{attribute}") or _FORMS.get(attribute) or _ANY_FORM
        if not re.fullmatch(form, value):
            yield Problem((group, thing, attribute), f"{value!r} must be {words}")
        elif value in seen:
            yield Problem((group, thing, attribute), f"{value!r} is already the value of {seen[value]}")
        seen[value] = key


def _flatten(rules: WorldRules) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Every place with its text; those of labels begin with `labels`."""
    for group, things in rules.groups.items():
        for thing, attributes in things.items():
            for name, text in attributes.items():
                yield (group, thing, name), text
    for group, texts in rules.labels.items():
        for name, text in texts.items():
            yield ("labels", group, name), text


@cache
def _rules(extra: Path | None) -> dict[str, WorldRules]:
    folders: list[Traversable] = [catalog_folder()]
    if extra is not None and (extra / "worlds").is_dir():
        folders.append(extra)
    name = f"worlds/{FIRST_KIND}.yaml"
    first = read_rules(read_file(catalog_folder() / name, name), None)
    kinds = {FIRST_KIND: first}
    for folder in folders:
        for item in sorted((folder / "worlds").iterdir(), key=lambda item: item.name):
            kind = item.name.removesuffix(".yaml")
            if kind == item.name or item.name == f"{FIRST_KIND}.yaml":
                continue
            source = read_file(item, f"worlds/{item.name}")
            rules = read_rules(source, first)
            if rules.kind != kind or kind in kinds:
                raise source.reject(
                    [
                        Problem(
                            ("kind",),
                            f"must be {kind!r}, like the file's name, and no other file may have it",
                        )
                    ]
                )
            kinds[kind] = rules
    return kinds


def _draw(rules: WorldRules, seed: int, number: int | None = None) -> Mapping[str, str]:
    random = Random(f"{rules.kind}:{seed}")
    drawn = _draw_common(random.randrange(2**32))
    for name, words in rules.draws.items():
        word = random.choice(words) if number is None else words[number % len(words)]
        drawn |= {name: word, name.capitalize(): word[:1].upper() + word[1:]}
    return drawn


def _draw_common(seed: int) -> dict[str, str]:
    """Values that every kind can use: people, places, times, numbers and prices; lower-case placeholders have
    lower-case values."""
    faker = Faker("en_US")
    faker.seed_instance(seed)
    random = Random(seed)
    first = _draw_distinct(faker.first_name, _PEOPLE)
    last = _draw_distinct(faker.last_name, _PEOPLE, taken=first)
    cities = random.sample([town for town in _TOWNS.split() if town not in (*first, *last)], _PEOPLE)
    months, days = random.sample(_MONTHS, 2), random.sample(_DAYS, 2)
    random.sample(_SEASONS, 2)  # Keeps later draws as they were when seasons were drawn independently.
    seasons = [_SEASONS[(_MONTHS.index(month) - 2) // 3 % len(_SEASONS)] for month in months]
    if seasons[0] == seasons[1]:
        seasons[1] = _SEASONS[(_SEASONS.index(seasons[0]) + 1) % len(_SEASONS)]
    drawn: dict[str, str] = {}
    for name, pair in (("Month", months), ("Day", days), ("Season", seasons)):
        drawn |= {name: pair[0], f"{name}2": pair[1]}
    for number, (first_name, last_name, city) in enumerate(zip(first, last, cities, strict=True), start=1):
        drawn |= {f"First{number}": first_name, f"Last{number}": last_name, f"City{number}": city}
        drawn[f"Person{number}"] = f"{first_name} {last_name}"
    drawn |= {name[0].lower() + name[1:]: value.lower() for name, value in list(drawn.items())}
    for number, value in enumerate(random.sample(range(11, 99), _NUMBERS), start=1):
        drawn[f"n{number}"] = str(value)
    for number, value in enumerate(random.sample(range(320, 9800), _NUMBERS), start=1):
        drawn[f"price{number}"] = f"{value / 100:.2f}"
    return drawn


def _draw_distinct(draw: Callable[[], str], count: int, taken: Sequence[str] = ()) -> list[str]:
    """`count` different single words that need no quotes in an instruction."""
    words: list[str] = []
    while len(words) < count:
        word = draw()
        if _PLAIN_WORD.fullmatch(word) and word not in (*taken, *words):
            words.append(word)
    return words
