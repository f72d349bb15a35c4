"""Nights: runs that extend a dataset on their own, and their decisions.

choices             which applications a run explores, and why; what a dataset still lacks of a request
gates               conditions for publishing the next version, also by hand
run_reports         what a run did and decided
"""
