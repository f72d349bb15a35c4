"""What a run stands on.

environment_pool    environments to lease
recording           writes records in batches; the record of a run
clock               the time that runs are dated with
core_seconds        processor time by what it was spent on
progress            live progress on standard error
together            coroutines side by side, the first failure as it is
interruptions       Ctrl-C and SIGTERM; runs that Prefect cancels
prefect_server      Prefect's server for one run, and its files in the data folder
"""
