"""Trajectories and evaluation functions verify each other.

cross_verification                     the rounds
performances, agreement                performances until enough agree
resource_evidence, clean_work          what performances show and change
function_writing                       functions are written, judged on all evidence, and compared with those
                                       of another writer
verification_pool, verified_subtasks   the results
"""
