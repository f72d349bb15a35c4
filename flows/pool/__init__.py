"""What is known of the pool from earlier runs.

known_pool    verified subtasks, intents and facts, read from the warehouse
pool_memory   what the warehouse remembers for exploration
"""
