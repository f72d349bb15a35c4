"""The end of a run.

summary            funnel, times, cost, what to try next
mistakes_account   what became of mistakes made on purpose
model_call_rows    the run's calls as rows of the warehouse
artifacts          the same in Prefect's UI
"""
