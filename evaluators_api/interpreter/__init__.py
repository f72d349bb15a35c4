"""Where generated code runs.

dialect            rewrites what models habitually write into the language that the sandbox runs
static_analysis    admits that language
sandbox            runs functions in worker processes; `worker_isolation` is the program they run
recorder           the doors to the checks; every call is recorded, and runs need not be repeated
"""
