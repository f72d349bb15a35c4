"""Questions in SQL.

asking        asks it in a time that is given, also without loading the records
query_result  the answer
"""
