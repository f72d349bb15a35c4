"""Nights: runs that grow a dataset by themselves, and what they decide.

night_settings      what makes a build a night
fingerprints        what an exploration depends on, and what of it changed
choices             which applications a run explores, and why
standing_quota      what of a request a dataset still lacks
drift               verified subtasks performed again; those that no longer replay are retired
gate_settings       the limits of the gates
gates               what must hold of the next version for it to be published
publishing          the gates of a publication by hand
run_reports         what a run did and decided
"""
