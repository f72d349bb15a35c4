"""Which tasks an export holds, and in which sets.

selection                    what an export is to contain
splits, dividing, growing    sets that share nothing forbidden
key_table, compared          the sets' names, and what tasks have in common
drawing                      the draw, and advice if no task is selected
"""
