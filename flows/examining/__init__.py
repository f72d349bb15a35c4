"""Evaluation functions examined again from recorded evidence, without a browser or a model call.

examination        runs them against what was recorded
evidence_folder    evidence as files, outside of a dataset
"""
