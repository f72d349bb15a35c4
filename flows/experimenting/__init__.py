"""Experiments: what is checked, fixed and written before and after the attempts of agents.

checking       checks before anything starts
fixing         selected tasks, hashes and name of an experiment, fixed before its first attempt
derived_tasks  tasks with questions, and impossible ones, derived from others
finishing      figures, files and the record of an experiment, from stored attempts
judging_again    judges recorded attempts again, asks the critic about them, imports people's scores
"""
