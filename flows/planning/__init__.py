"""What a run, or a request for tasks, would take.

planning               `--dry-run`: calls, tokens and cost of a run
night_planning         `--night --dry-run`: what a night would explore, perform again and compose
composition_planning   `taskloom plan`: whether the pool can supply what is wanted
"""
