"""The offline provider: plays the model roles by rules, without a key or a network.

models       the stages' port to models: plays some roles and leaves the others to models
actor, evaluation_writer, intent_extractor, summarizer, dependency_judge    one rule per role;
             the explorer has nothing to propose
conditions/  the conditions that the evaluation writer asserts
phrasebook   the catalogue's phrases for the subtasks of a task
"""
