"""Prefect flows: what runs, when, with which objects.

<flow>.py                     one flow each: build_dataset, explore_applications, verify_subtasks,
                              compose_tasks, evaluate_agent, export_test_set, write_world
steps                         the flows' steps, the only Prefect task wrappers
settings, settings_file       all settings of a run, and the file they come from
wiring                        makes the objects of a run from its settings
shutting_in                   refuses to let a model act where nothing confines it
stages/                       what the steps do: growing the pool, making tasks, agents at work
hosting/                      what hosts a run: contexts of steps, checks before it, its waiting
pool/                         what is known of the pool from earlier runs
running/                      what a run stands on: Prefect's server, environments to lease, recording,
                              progress, signals
setting_groups/               settings that belong together
nights/                       what nights decide: what to explore, what still replays, what may be published
summaries/                    the end of a run: funnel, cost, what became of mistakes
watching/                     what a run tells others: log lines, traces and metrics, alerts
planning/                     what a run, or a request for tasks, would take
deploying/                    scheduled runs: deployments, and what a Prefect server needs for them
fan_out/                      items done in other processes, here or on other machines
examining/                    evaluation functions examined again from recorded evidence
"""
