"""The end of a run.

summary            funnel, times, cost, orders of two subtasks, what to try next
artifacts          the same in Prefect's UI, and the progress while a run goes on
"""
