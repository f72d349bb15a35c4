"""A judge infers the dependencies from the instruction alone.

validation     asks it, and has instructions written again
calibration    spoils instructions, and counts what it notices
"""
