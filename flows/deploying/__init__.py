"""What makes scheduled runs: deployments, and what a Prefect server needs for them.

prefect_setup   the work pool and the limits that all runs share, created once
serving         deployments that one process serves itself
"""
