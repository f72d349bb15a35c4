"""Exported bundles import their judging records from this module; published programs depend on it."""

from taskloom.taskgraph.records.evaluation_function import JudgedSubtask, JudgingSheet

__all__ = ["JudgedSubtask", "JudgingSheet"]
