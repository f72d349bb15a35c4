"""Wrong outcomes in which something beside the work is lost, or more was done than was asked for (method
section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.adding import (
    done_twice,
    filled_field,
    one_more,
    one_more_column,
    one_more_folder,
    other_tables,
    tagged,
)
from taskloom.evaluators_api.state.editing import losses, replaced, with_text, without_files
from taskloom.evaluators_api.state.further_editing import (
    altered_texts,
    emptied_texts,
    more_drawn,
    other_field,
    rows_alike,
    shown_twice,
)
from taskloom.evaluators_api.state.templates import is_generated
from taskloom.evaluators_api.text_matching import same_page
from taskloom.synthesis.examination.altering import altered
from taskloom.synthesis.examination.cases import USER_FOLDERS, Case
from taskloom.synthesis.examination.subject import Subject
from taskloom.taskgraph.records.evidence import Evidence, is_open_document

_OTHER = "zq7"
_MOST_DEFAULTS = 2


def harm_beside(subject: Subject) -> Iterator[Case]:
    """Everything that can go wrong beside the changes that make the work right."""
    yield from _losses(subject)
    yield from _beside(subject)


def _losses(subject: Subject) -> Iterator[Case]:
    """Something lost beside the changes: in the containers they are in, of the user's files, of the
    application's data."""
    start, end = subject.start, subject.end
    touched = {effect.container for effect in subject.essential if effect.area == "file"}
    incidental = {effect.container for effect in subject.incidental if effect.area == "file"} - touched
    kept = [
        file.path
        for file in start.files
        if file.path not in touched | incidental and not is_open_document(file.path)
    ]
    for edited in losses(start, end):
        if any(edited.description.startswith(f"{path}: ") for path in touched) and not is_generated(
            edited.description.partition(": ")[2]
        ):
            yield _loss(subject, edited.description, edited.evidence)
    users = [path for path in kept if path.partition("/")[0] in USER_FOLDERS]
    if users:
        yield _loss(subject, f"the file {users[0]} was deleted as well", without_files(end, {users[0]}))
    if len(users) > 1:
        yield _loss(
            subject, "all other files of the user were deleted as well", without_files(end, set(users))
        )
    application = subject.positive.subtask_id.partition(".")[0]
    own = [path for path in kept if path.startswith(f"{APPLICATIONS_FOLDER}/{application}/")]
    if own:
        yield _loss(
            subject, "what the application kept before was deleted as well", without_files(end, set(own))
        )


def _beside(subject: Subject) -> Iterator[Case]:
    """More than was asked for: another file was made, another text emptied, another row brought into the same
    state."""
    end = subject.end
    made = next((effect for effect in subject.essential if effect.area == "file"), None)
    folder = (made.container if made is not None else "Documents/x").rpartition("/")[0]
    if folder.partition("/")[0] not in USER_FOLDERS:
        folder = USER_FOLDERS[1]
    other = f"{folder}/other{_OTHER}.txt"
    yield _loss(subject, f"the file {other} was made as well", with_text(end, other, "something else"))
    changed = {effect.container for effect in (*subject.essential, *subject.incidental)}
    changed |= {file.path for file in end.files if subject.is_touched(file.path)}
    application = subject.positive.subtask_id.partition(".")[0]
    own = f"{APPLICATIONS_FOLDER}/{application}/"
    more = [emptied_texts(end, own, changed)]
    if subject.names_its_files:
        more.append(one_more(end, own, changed, altered))
        more.append(other_tables(end, own, subject.is_touched, altered))
    if subject.names_its_files or "changed" in subject.kept:
        more.append(altered_texts(end, own, changed, altered))
    for edited in chain.from_iterable(more):
        yield _loss(subject, edited.description, edited.evidence)
    twice = (edited for effect in subject.essential for edited in done_twice(subject.start, end, effect))
    for edited in islice(twice, 1):
        yield _loss(subject, edited.description, edited.evidence)
    touched = {effect.address[-1] for effect in (*subject.essential, *subject.incidental) if effect.address}
    fields = (other_field(subject.start, end, effect, touched, altered) for effect in subject.guarded)
    drawn = [more_drawn(subject.start, end, subject.once, altered)]
    for edited in chain(*fields, *(shown_twice(end, text) for text in subject.once), *drawn):
        yield _loss(subject, edited.description, edited.evidence)
    if subject.folders is not None:
        meant = [effect.container for effect in subject.guarded if effect.area == "directory"]
        for edited in one_more_folder(end, (*meant, f"{USER_FOLDERS[0]}/new{_OTHER}")[0]):
            yield _loss(subject, edited.description, edited.evidence)
    yield from islice(_other_defaults(subject), _MOST_DEFAULTS)
    columns = (one_more_column(subject.start, end, effect, _OTHER) for effect in subject.essential)
    tags = (tagged(end, effect, _OTHER) for effect in subject.essential)
    for edited in (*islice(chain.from_iterable(columns), 1), *islice(chain.from_iterable(tags), 1)):
        yield _loss(subject, edited.description, edited.evidence)
    filled = {
        effect.address[-1]
        for effect in (*subject.essential, *subject.incidental)
        if effect.address and (effect.after or "").strip()
    }
    for edited in chain.from_iterable(
        filled_field(end, effect, filled, _OTHER) for effect in subject.essential if effect.kind == "added"
    ):
        yield _loss(subject, edited.description, edited.evidence)
    if subject.shown or (subject.keeps_nothing and same_page(subject.start.url, end.url)):
        for edited in rows_alike(subject.start, end):
            yield _loss(subject, edited.description, edited.evidence)


def _other_defaults(subject: Subject) -> Iterator[Case]:
    """A new record has another word where the application writes one of itself, as if somebody had chosen
    it."""
    for effect in subject.defaults:
        value = "1" if effect.after == "0" else altered(effect.after or "")
        evidence = replaced(subject.start, subject.end, effect, value)
        if evidence is not None and not subject.reached(evidence):
            yield _loss(
                subject,
                f"{effect.container}: {' / '.join(effect.address)} is {value!r} instead of {effect.after!r},"
                " which nobody asked for",
                evidence,
            )


def _loss(subject: Subject, description: str, evidence: Evidence) -> Case:
    return Case("collateral_loss", description, subject.positive.parameters, evidence, subject.start)
