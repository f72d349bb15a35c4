"""What a run uses.

environment_pool    leases environments
recording           writes records in batches; the record of a run
clock               dates runs
core_seconds        processor time by purpose
progress            live progress on standard error
together            runs coroutines concurrently
interruptions       Ctrl-C and SIGTERM; runs that Prefect cancels
prefect_server      Prefect's server for one run, and its files in the data folder
"""
