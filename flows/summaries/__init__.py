"""The end of a run.

summary            funnel, times, cost, what to try next
measured_pairs     what orders of two subtasks showed
model_call_rows    the run's calls as rows of the warehouse
artifacts          the same in Prefect's UI
"""
