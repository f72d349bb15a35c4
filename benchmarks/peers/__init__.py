"""Other libraries that the benchmarks compare with, each run by an interpreter that has it installed."""
