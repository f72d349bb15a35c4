"""Module from which exported bundles import the records that judge them; published programs depend on it."""

from taskloom.taskgraph.records.evaluation_function import JudgedSubtask, JudgingSheet

__all__ = ["JudgedSubtask", "JudgingSheet"]
