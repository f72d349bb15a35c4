"""Which tasks an export holds, and in which sets.

selection                    what an export is to contain
splits, dividing, growing    sets that share nothing they must not
key_table, compared          the sets' names, and what tasks have in common
drawing                      the draw, and advice where no task is selected
"""
