"""What a run, or a request for tasks, would need.

planning               `--dry-run`: calls, tokens and cost of a run, and what a night would do
composition_planning   `taskloom plan`: whether the pool can supply a request
"""
