"""Small applications over real files, without a browser: for tests, benchmarks and trials.

platform          what the platform offers
desktop           the environment
applications      the applications' behaviour
drawing           their pictures
catalog_entries   their catalogue entries, read from catalog/
"""
