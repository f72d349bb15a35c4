"""A dataset in a local folder laid out as the Hub has it: `<hub>/datasets/<owner>/<name>`, replaced as a
whole by each push."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from taskloom.warehouse.errors import ExportRefusedError
from taskloom.warehouse.exporting.exporting import MANIFEST, ExportOptions, Manifest, export
from taskloom.warehouse.sets.requests import SetRequest
from taskloom.warehouse.sets.selection import Selection
from taskloom.warehouse.store import Warehouse

_NAME: Final = re.compile(
    r"(?!.*(--|\.\.))[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}(?<!\.git)"
)
_ATTRIBUTES: Final = "*.parquet filter=lfs diff=lfs merge=lfs -text\n"


def push(
    warehouse: Warehouse,
    name: str,
    hub: Path,
    selection: Selection | None = None,
    options: ExportOptions | None = None,
    *,
    sets: SetRequest | None = None,
    named_lists: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Path, Manifest]:
    """Write the dataset `owner/name` into the hub folder; its folder and the manifest.

    A dataset that was pushed before is replaced once the new one is complete; until then it stays as it is.

    Raises:
        ExportRefusedError: no name that the Hub takes, the folder holds something else, or the export is
            refused.
    """
    if not _NAME.fullmatch(name):
        raise ExportRefusedError(
            f"{name!r} is no name of a dataset: it has the form owner/name, with letters, digits and . _ -"
            " between them."
        )
    folder = hub.absolute() / "datasets" / name
    if folder.exists() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise ExportRefusedError(
            f"{folder} holds files that no push wrote, and would lose them. Name another dataset or hub."
        )
    aside = folder.parent / f".{folder.name}.{uuid.uuid4().hex}"
    old = aside.with_name(f"{aside.name}.old")
    try:
        manifest = export(
            warehouse, "hugging_face", aside, selection, options, sets=sets, named_lists=named_lists
        )
        (aside / ".gitattributes").write_text(_ATTRIBUTES, encoding="utf-8")
        if folder.exists():
            folder.rename(old)
        aside.rename(folder)
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return folder, manifest
