"""Tasks that are judged elsewhere, by files alone.

judging_sheets    which tasks can be, and the sheets with which they are
machine_setup     OSWorld's steps to a task's start, and a program that brings a machine there
"""
