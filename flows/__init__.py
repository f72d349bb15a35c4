"""Prefect flows: what runs, when, with which objects.

<flow>.py      one flow each: build_dataset, explore_applications, verify_subtasks, compose_tasks, evaluate_agent, export_test_set
steps.py       the flows' steps, the only Prefect task wrappers
settings.py    all settings of a run
wiring.py      makes the objects of a run from its settings
stages/        what the steps do: growing the pool, making tasks, agents at work
running/       what hosts a run: contexts of steps, Prefect's server, environments to lease, recording, progress, signals
summaries/     the end of a run: funnel, cost, what became of mistakes
planning/      what a run, or a request for tasks, would take
examining/     evaluation functions examined again from recorded evidence
"""
