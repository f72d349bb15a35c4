"""Small applications over real files, without a browser: for tests, benchmarks and trials.

platform          the platform and its environment; catalogue entries are in catalog/
applications      the behaviour of the applications
"""
