"""What the steps of the flows do: growing the pool, making tasks from it, letting agents attempt them."""
