"""Trajectories and evaluation functions prove each other.

cross_verification                     the rounds; `verification_settings` limits them
performances, agreement                performances until enough agree
performance_effects, resource_evidence, overlooked_controls    what they show
verification_pool, verified_subtasks   what comes out
"""
