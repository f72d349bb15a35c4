"""Which tasks an export holds, and in which sets.

selection, requests                 what is asked for
splits, dividing, growing           sets that share nothing they must not
key_table, wording, compared        what tasks have in common
drawing, names, advice              the draw, the sets' names, what would help
"""
