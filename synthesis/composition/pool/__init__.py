"""What composition composes of: bound subtasks, numbered, with who feeds and who excludes whom.

linking             further bindings, to what other subtasks make
instances           a bound subtask with what composition needs to know of it, and what exists at reset
rivals              which instances nobody would ask for together
compiled_pool       the whole pool as numbers and bitmasks
sense               what the catalogue says of subtasks that nobody would ask for together
"""
