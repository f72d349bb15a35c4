"""Nights: runs that grow a dataset by themselves, and what they decide.

choices             which applications a run explores, and why; what of a request a dataset still lacks
gates               what must hold of the next version for it to be published, also by hand
run_reports         what a run did and decided
"""
