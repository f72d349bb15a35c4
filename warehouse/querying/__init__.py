"""Questions in SQL.

asking        asks it, in a time that is given
query_result  the answer
quick_reader  asks without loading the records
"""
