"""Where generated code runs.

static_analysis    admits a small language, by `language_rules`, `check_usage` and `generators`
dialect            rewrites what models habitually write into that language
sandbox            runs functions in worker processes; `worker_isolation` is the program they run
recorder           the doors to the checks; every call is recorded
remembered_runs    runs that need not be repeated
"""
