"""Who is called for what."""

from __future__ import annotations

from enum import StrEnum


class ModelRole(StrEnum):
    """A role that a language model plays in the method; each may have its own provider and model."""

    EXPLORER = "explorer"
    """Proposes subtasks of an application (B.1)."""
    ACTOR = "actor"
    """Performs a subtask on the screen (B.2, E.1)."""
    EVALUATION_WRITER = "evaluation_writer"
    """Writes evaluation functions (B.2, E.2)."""
    INTENT_EXTRACTOR = "intent_extractor"
    """Finds goals that group subtasks (3.2)."""
    SUMMARIZER = "summarizer"
    """Turns a task graph into one instruction (B.4)."""
    DEPENDENCY_JUDGE = "dependency_judge"
    """Infers dependencies from an instruction alone (B.4)."""
