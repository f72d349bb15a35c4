"""Fan-out: items of one run are processed in other processes, here or on other machines; the run's own
process alone writes and pays.

home               answers the requests of workers (replies of models, applications, verified subtasks), over
TCP connections with signed frames dask_workers       starts and stops the fan-out of a run; runs jobs in the
workers of Dask, here or of a scheduler
"""
