"""Checks of records: rows of tables and databases, objects of JSON and YAML, elements of markup, notes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from taskloom.evaluators_api.checks.declaration import LONGEST_TEXT, Scene, check, text_of_file
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import meaning, read
from taskloom.evaluators_api.state.records import (
    belonging,
    fields_in,
    fields_of,
    holds,
    parts_of,
    records_of,
    row_of,
    rows_in,
    same_value,
    text_of,
)


@check("files", empty_allowed=True, of="records")
def check_record(scene: Scene, file_path: str, fields: dict[str, str], within: str = "") -> bool:
    """Checks if one record of the file holds all these values together.

    Records are rows of CSV files and of databases, objects of JSON and YAML, elements of XML, HTML, SVG and
    draw.io files (attributes are fields, their text is the field 'text'), sections of settings, and a note
    with its header and 'text'. Values must match as a whole, case and the spaces around them included;
    numbers match as numbers. A name such as 'postings/*/account' reaches into a list: '*' is one item of it,
    the same for all names with that beginning. In a ledger an amount that is left to the program counts as
    written: that which balances the transaction.

    Args:
        file_path: '' for any file.

    Example:
        check_record(file_path='Documents/sales.csv', fields={'region': 'North', 'amount': '1200'})
    """
    found = any(True for _ in _all_matching(scene, file_path, fields, within))
    return found or _if_complete(scene.view, file_path, within)


def _if_complete(view: EvidenceView, file_path: str, within: str, found: bool = False) -> bool:
    """Return `found` if the evidence holds the whole file, or the whole table of a database.

    Raises:
        CheckUnavailableError: only a part was kept.
    """
    for file in [view.file(file_path)] if file_path else view.files.values():
        if file is None or not file.truncated or file.text is None:
            continue
        tree = read(file.path, file.text)[1]
        table = parts_of(within)[:1]
        count = tree.at((*table, "count"))
        row_count = None if count is None or count.naming != "schema" else text_of(count)
        if row_count != str(len(tree.parts((*table, "rows")))):
            text_of_file(file, whole=True)
    return found


def _all_matching(scene: Scene, file_path: str, fields: dict[str, str], within: str) -> Iterator[Node]:
    """The matching records; where a file has none, those that match apart from its layout."""
    found = list(_matching(scene, file_path, fields, within))
    yield from found
    file = scene.view.file(file_path) if file_path and not found else None
    if file is not None and file.text is not None:
        format_name, tree = read(file.path, file.text)
        bare = meaning(format_name, tree)
        records = records_of(bare, rows_in(bare, within)) if bare is not tree else ()
        yield from (record for record in records if holds(record, fields))


@check("files", empty_allowed=True, of="records")
def check_record_added(scene: Scene, file_path: str, fields: dict[str, str], within: str = "") -> bool:
    """Checks if there are more records with all these values together than at the start: one was added.

    Takes the same arguments as check_record. Ask in one call for all that a new record must hold.

    Args:
        file_path: '' for any file.

    Example:
        check_record_added(file_path='Documents/sales.csv', fields={'region': 'North', 'amount': '1200'})
    """
    before = replace(scene, view=scene.start)
    now, earlier = (
        sum(1 for _ in _all_matching(state, file_path, fields, within)) for state in (scene, before)
    )
    return now > earlier or _if_complete(scene.view, file_path, within)


@check("files", empty_allowed=True, of="records")
def check_record_count(
    scene: Scene, file_path: str, fields: dict[str, str], count: int, within: str = ""
) -> bool:
    """Checks if exactly so many records of the file hold all these values together; 0 for a record that must
    be gone.

    Args:
        file_path: '' for all files.
        fields: {} counts all records.

    Example:
        check_record_count(file_path='Documents/sales.csv', fields={'region': 'North'}, count=0)
    """
    if file_path and scene.view.file(file_path) is None:
        return False
    found = sum(1 for _ in _matching(scene, file_path, fields, within))
    return _if_complete(scene.view, file_path, within, found == count)


@check("files", of="records")
def check_field(scene: Scene, file_path: str, field: str, value: str) -> bool:
    """Checks if the field at this address of the file has exactly this value.

    Example:
        check_field(file_path='Documents/config.json', field='editor/theme', value='dark')
    """
    tree = _tree(scene.view, file_path)
    found = None if tree is None else tree.at(parts_of(field))
    if found is not None and same_value(value, text_of(found)):
        return True
    return _if_complete(scene.view, file_path, field)


@check("files", of="records")
def check_part_exists(scene: Scene, file_path: str, part: str, at_start: bool = False) -> bool:
    """Checks if the file has a part of this name, whatever is in it: a table of a database, a section, a
    field.

    Example:
        check_part_exists(file_path='Documents/settings.json', part='colours')
    """
    found = scene.seen(at_start=at_start).node(file_path, parts_of(part))
    return bool(parts_of(part)) and found is not None


@check("files", of_source=True, of="records")
def check_records_copied(
    scene: Scene,
    source: str,
    target: str,
    source_within: str = "",
    target_within: str = "",
    belonging_to: dict[str, str] | None = None,
) -> bool:
    """Checks if the records that the source held at the start were added to the target: imported or exported.

    Every field of the source must be a field of the target, which may have further ones, and have the same
    value there. Each must be there as often as the source held it, beside those that the target held before:
    in a new file exactly so often, else at least. More than that, the account of side effects notices.

    Args:
        target: A file, or 'clipboard'.
        belonging_to: Fields of one record of the source: only it and the records that refer to it by its id
            are meant, and the target must hold no others of the source; None for all records.

    Example:
        check_records_copied(source='Documents/sales.csv', target='.applications/sqlite_web/shop.db',
        target_within='sales')
    """
    source_tree, target_tree = _tree(scene.start, source), _tree(scene.view, target)
    if source_tree is None or target_tree is None:
        return False
    found = fields_in(target_tree, target_within)
    if belonging_to is not None:
        wanted = [fields_of(record) for record in belonging(source_tree, belonging_to)]
        wanted_rows, found_rows = (
            sorted(row_of(fields, set(fields)) for fields in records) for records in (wanted, found)
        )
        return bool(wanted) and found_rows == wanted_rows
    wanted = fields_in(source_tree, source_within)
    names = {name for fields in wanted for name in fields}
    before = _tree(scene.start, target)
    former = [] if before is None else fields_in(before, target_within)
    now, earlier = (
        Counter(row_of(fields, names) for fields in records if names <= fields.keys())
        for records in (found, former)
    )
    if not names or not now or not all(names <= fields.keys() for fields in wanted):
        # the records do not all have the same fields: each must occur
        rows = {row_of(fields, names) for fields in found}
        found_names = {name for fields in found for name in fields}
        return (
            bool(names) and names <= found_names and all(row_of(fields, names) in rows for fields in wanted)
        )
    added = Counter(row_of(fields, names) for fields in wanted)
    return all(
        now[row] == times if before is None else now[row] >= earlier[row] + times
        for row, times in added.items()
    )


@check("files", of_source=True, of="records")
def check_one_record_copied(
    scene: Scene, source: str, target: str, number: int, source_within: str = ""
) -> bool:
    """Checks if the target holds one record of the source as it was at the start, and no other: the first row
    of a table, say.

    Args:
        target: A file, or 'clipboard'.
        number: Which record of the source it is, counted from 1: in the order of the file, of a database in
            the order of its rows.

    Example:
        check_one_record_copied(source='Documents/sales.csv', target='clipboard', number=1)
    """
    source_tree, target_tree = _tree(scene.start, source), _tree(scene.view, target)
    if source_tree is None or target_tree is None:
        return False
    records = fields_in(source_tree, source_within)
    count = source_tree.at((*parts_of(source_within), "count"))
    if count is not None and count.naming == "schema":
        # newest first; positions are unknown where only the newest were kept
        records = records[::-1] if text_of(count) == str(len(records)) else []
    wanted = records[number - 1 : number] if number > 0 else []
    wanted_rows, found_rows = (
        [row_of(fields, set(fields)) for fields in items] for items in (wanted, fields_in(target_tree))
    )
    return bool(wanted) and wanted_rows == found_rows


def _tree(view: EvidenceView, path: str) -> Node | None:
    file = view.place(path)
    text = "" if file is None else text_of_file(file)
    return None if file is None or not text or len(text) > LONGEST_TEXT else read(file.path, text)[1]


@check("files", empty_allowed=True, of="records")
def get_record_path(scene: Scene, fields: dict[str, str], at_start: bool = False) -> str:
    """Gets the path of the one file that has a record with all these values together, for applications that
    name their files themselves; '' if several have.

    Its path can be given to checks that need one.

    Example:
        check_file_missing(file_path=get_record_path(fields={'title': 'Library hours'}, at_start=True))
    """
    view = scene.seen(at_start=at_start)
    found = [
        path
        for path in view.files
        if (tree := view.tree(path)) is not None
        and any(holds(record, fields) for record in records_of(tree, rows_in(tree, "")))
    ]
    return found[0] if len(found) == 1 else ""


def _matching(scene: Scene, file_path: str, fields: dict[str, str], within: str) -> Iterator[Node]:
    all_files = (read(path, text)[1] for path, text in scene.texts())
    for tree in [_tree(scene.view, file_path)] if file_path else all_files:
        for record in scene.in_time(records_of(tree, rows_in(tree, within))) if tree is not None else ():
            if holds(record, fields):
                yield record
