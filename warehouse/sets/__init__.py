"""Which tasks an export holds, and in which sets.

selection                    what is asked for
splits, dividing, growing    sets that share nothing they must not
key_table, compared          the sets' names, and what tasks have in common
drawing                      the draw, and what would help where there are no tasks
"""
