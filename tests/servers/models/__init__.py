"""A local server that speaks the providers' protocols over real HTTP, well and badly, for tests and
benchmarks."""
