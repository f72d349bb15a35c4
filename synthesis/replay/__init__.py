"""Composed tasks are performed from their subtasks' trajectories.

replay          performs one task in one environment
components      what must have been performed for a task to count as covered
order_facts     what replays show about the order of two subtasks
"""
