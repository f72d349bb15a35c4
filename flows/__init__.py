"""Prefect flows and everything that a run needs.

build_dataset                 the flow of builds, and those of exploration, verification, composition alone
run_experiment, export_test_set   one flow each
examination                   examines evaluation functions again from recorded evidence
steps                         the flows' steps, the only Prefect task wrappers
settings                      all settings of a run
places                        where data is, for readers that need no other setting; the settings file
spare_capacity                how many environments the machine feeds
wiring                        makes the objects of a run from its settings, or refuses it
preflight                     checks before a run
hosting                       contexts of steps, progress and results in Prefect, log lines
pool                          what is known of the pool from earlier runs
summary                       the summary of a run: funnel, times, cost
experimenting/                experiments: checked, fixed, finished, scored again
stages/                       what the steps do: growing the pool, making tasks, agents at work
running/                      what a run needs: Prefect's server, environments to lease, recording,
                              progress, signals
nights/                       scheduled builds: what to explore, what still replays, what may be published
planning/                     what a run, or a request for tasks, would cost and supply
fan_out/                      worker processes, here or on other machines
"""
