"""Which tasks an export holds, and in which sets.

selection, requests                 what is asked for
splits, dividing, growing           sets that share nothing they must not
empty_selections                    what to say where there are no tasks
key_table, wording, compared        what tasks have in common
drawing, names                      the draw, what would help, the sets' names
"""
