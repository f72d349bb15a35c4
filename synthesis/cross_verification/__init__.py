"""Trajectories and evaluation functions prove each other.

cross_verification                     the rounds; `verification_settings` limits them
performances, agreement                performances until enough agree
performance_effects, resource_evidence, overlooked_controls, clean_work    what they show
function_writing                       functions written, judged on all evidence, compared with another
                                       writer's
verified_instances                     which instances are performed, and which follow from those
verification_pool, verified_subtasks   what comes out
"""
