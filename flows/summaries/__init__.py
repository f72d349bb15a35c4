"""The end of a run: funnel, times, cost, and what became of mistakes made on purpose."""
