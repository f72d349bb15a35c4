"""Prefect flows and everything that a run needs.

build_dataset                 the flow of builds, and those of exploration, verification, composition alone
run_experiment, export_test_set   one flow each
examination                   examines evaluation functions again from recorded evidence
steps                         the flows' steps, the only Prefect task wrappers
settings                      all settings of a run
places                        location of data, for code that needs no other setting; the settings file
spare_capacity                how many environments the machine can run
wiring                        makes the objects of a run from its settings, or refuses it
preflight                     checks before a run
hosting                       contexts of steps, progress and results in Prefect, log lines
pool                          the pool of earlier runs
summary                       the summary of a run: funnel, times, cost
experimenting/                checks, fixes and finishes experiments, and scores them again
stages/                       what the steps do: grow the pool, make tasks, let agents attempt them
running/                      what a run uses: Prefect's server, environments to lease, recording,
                              progress, signals
nights/                       scheduled builds: what to explore, what still replays, what may be published
planning/                     estimates of what a run costs and what the pool can supply
fan_out/                      worker processes, here or on other machines
"""
