"""Plays every role by rule, without a key, a network or a model.

models       the stages' port: plays some roles, and leaves the others to models
rules        one rule per role, each in the module of its name: explorer, actor, evaluation_writer,
             intent_extractor, summarizer, dependency_judge
conditions/  what the evaluation writer asserts
telling/     says things in the catalogue's phrases, for the intent extractor and the summarizer
reading/     reads them, for the dependency judge
telling_steps    what the actor says about a worked step
mistakes     makes the errors of models on purpose
"""
