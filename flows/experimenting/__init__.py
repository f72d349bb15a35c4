"""Experiments: what is checked, fixed and written around the attempts of agents.

checking       what is refused before anything starts
fixing         the tasks that one selects, hashes and name of an experiment, fixed before its first attempt
derived_tasks  tasks with questions, and impossible ones, made from others
finishing      figures, files and the record of an experiment, from what is stored
judging_again    judges recorded attempts again, asks the critic about them, takes in what people scored
"""
