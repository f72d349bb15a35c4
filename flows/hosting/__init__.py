"""What hosts a run.

contexts    what a step works with, opened from a reference to the run
preflight   checks before a run begins
waiting     ends a run that waits for replies from elsewhere
"""
