"""One folder per platform; the folder's name is the platform's.

A platform is found by its module `platform`, which offers `SETTINGS` (its settings record), `applications()`
(its own applications) and `create(settings)`; see `taskloom.environments.lookup.Platform`.
"""
