"""Nights: runs that grow a dataset by themselves, and what they decide.

fingerprints        what an exploration depends on, and what of it changed
choices             which applications a run explores, and why
standing_quota      what of a request a dataset still lacks
retirement          the reasons for which subtasks and tasks are retired
gates               what must hold of the next version for it to be published
publishing          the gates of a publication by hand
run_reports         what a run did and decided
"""
