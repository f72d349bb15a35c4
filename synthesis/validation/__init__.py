"""A judge infers the dependencies from the instruction alone.

validation     asks the judge, and has instructions rewritten
calibration    spoils instructions, and counts what the judge notices
"""
