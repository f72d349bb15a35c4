"""The reasons for which verified subtasks, and the tasks that need them, are retired."""

NO_LONGER_REPLAYS = "no_longer_replays"
"""Reason for which a subtask is retired."""
SUBTASK_RETIRED = "subtask_retired"
"""Reason for which a task is retired."""
