"""Where exported bundles find what judges them: programs already published import it by this module."""

from taskloom.taskgraph.records.evaluation_function import JudgedSubtask, JudgingSheet

__all__ = ["JudgedSubtask", "JudgingSheet"]
