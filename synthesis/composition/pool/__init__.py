"""The bound subtasks that tasks are composed from, and which of them feed or exclude each other.

linking             additional instances, bound to the products of other subtasks
instances           numbered bound subtasks, and the fixtures at reset
rivals              instances that nobody would ask for together
compiled_pool       the whole pool as numbers and bitmasks
sense               what the catalogue says about subtasks that nobody would ask for together
"""
