"""What hosts a run.

contexts            what a step works with, opened from a reference to the run
environment_pool    environments to lease
recording           writes records in batches
run_records         the record of a run
clock               the time that runs are dated with
preflight           checks before a run begins
progress            live progress on standard error
waiting             ends a run that waits for replies from elsewhere
retries             which failures of steps are tried again
together            coroutines side by side, the first failure as it is
interruptions       Ctrl-C and SIGTERM
cancellation        runs that Prefect cancels
prefect_server      Prefect's server for one run
log_setup           quiet logs, Prefect's files in the data folder
"""
