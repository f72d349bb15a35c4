"""What a run, or a request for tasks, would take.

planning               `--dry-run`: calls, tokens and cost of a run, and what a night would do
composition_planning   `taskloom plan`: whether the pool can supply what is wanted
"""
