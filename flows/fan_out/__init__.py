"""Fan-out: items of one run done in other processes, here or on other machines; this process alone writes and
pays.

home               answers what workers ask of the run: replies of models, applications, verified subtasks;
                   how both sides talk: signed frames over TCP
dask_workers       begins and ends the fan-out of a run; has errands done by the workers of Dask, here or of
                   a scheduler
"""
