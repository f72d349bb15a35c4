"""The self-contained HTML report.

report        one file, nothing loaded from outside
"""
