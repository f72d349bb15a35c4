"""Evidence for tests of state, from paths and texts."""

import hashlib

from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState


def evidence(files: dict[str, str], **fields: object) -> Evidence:
    states = tuple(
        FileState(
            path=path, size=len(text.encode()), sha256=hashlib.sha256(text.encode()).hexdigest(), text=text
        )
        for path, text in sorted(files.items())
    )
    return Evidence.model_validate({"step": 0, "files": states, **fields})


def clipboard(text: str) -> ClipboardState:
    return ClipboardState(text=text)
