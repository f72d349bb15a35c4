"""A judge infers the dependencies from the instruction alone.

validation     asks it, and has instructions written again
calibration    what it notices of spoilt ones
spoiling       spoils them
"""
