"""What a run would do and cost, and which tasks the pool can supply."""
