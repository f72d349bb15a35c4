"""Trajectories and evaluation functions prove each other.

cross_verification                     the rounds
performances, agreement                performances until enough agree
resource_evidence, clean_work          what they show
function_writing                       functions written, judged on all evidence, compared with another
                                       writer's
verification_pool, verified_subtasks   what comes out
"""
