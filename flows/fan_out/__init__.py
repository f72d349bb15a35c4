"""Fan-out: items of one run are processed in other processes, here or on other machines; only the run's own
process writes and pays.

run_server         answers workers' requests for replies of models, applications and verified subtasks, over
                   TCP in signed frames
dask_workers       starts and ends the fan-out of a run; runs jobs in the workers of Dask, here or of
                   a scheduler
"""
