"""Where generated code runs.

dialect            rewrites what models habitually write into the language of the sandbox
static_analysis    admits that language
sandbox            runs functions in worker processes; `worker_isolation` is the program they run
recorder           answers and records the calls of checks, and remembers runs so that none is repeated
"""
