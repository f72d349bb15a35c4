"""What makes scheduled runs: deployments, and what a Prefect server needs for them.

prefect_setup   the work pool and the limits that all runs share, created once
shared_places   how a run takes its places in these limits
serving         deployments that one process serves itself
"""
