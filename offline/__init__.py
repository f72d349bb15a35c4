"""The offline provider: plays the model roles by rules, without a key or a network.

models       the stages' port: plays some roles, and leaves the others to models
rules        one rule per role, each in the module of its name: actor, evaluation_writer, intent_extractor,
             summarizer, dependency_judge; the explorer has nothing to propose
conditions/  what the evaluation writer asserts
phrasebook   the catalogue's phrases for the subtasks of a task
telling      writes a task graph in them, for the intent extractor and the summarizer
telling_steps    the actor's thought for a worked step
"""
