"""What becomes of attempts: tables, figures, intervals.

report_rows   means per capability and level
"""
