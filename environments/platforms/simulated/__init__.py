"""Small applications over real files, without a browser: for tests, benchmarks and trials.

platform          what the platform offers, with the catalogue entries in catalog/, and the environment
applications      the applications' behaviour
"""
