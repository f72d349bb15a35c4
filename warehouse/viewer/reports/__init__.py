"""The self-contained HTML report.

report        one file, nothing loaded from outside
report_data   what it shows
charts        bar charts, for the viewer as well
"""
