"""What hosts a run.

contexts            what a step works with, opened from a reference to the run; the end of one that waits
preflight           checks before a run begins
"""
