"""Which tasks an export holds, and in which sets.

selection, requests                 what is asked for
splits, dividing                    sets that share nothing they must not
key_table, wording, compared        what tasks have in common
drawing, names                      the draw, what would help, the sets' names
"""
