"""Explorer by rule: knows no subtasks beside the curated ones, which are in the pool already, so it proposes
none."""

from __future__ import annotations

from taskloom.prompts.replies import ExplorerReply


def explore() -> ExplorerReply:
    """No proposal."""
    return ExplorerReply(subtasks=[])
