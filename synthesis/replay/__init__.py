"""Composed tasks are performed from their subtasks' trajectories.

replay          performs one task in one environment
components      what must have been performed before a task counts as covered
order_facts     what replays show about the order of two subtasks
side_effects    what an attempt changed beyond its subtasks' work, and what of their work did not last
"""
