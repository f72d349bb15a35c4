"""The records that travel between rooms, and the mathematics of task graphs.

`records/` is what travels. `measures/` computes: complexity, orders, interference, coherency. `reading/` takes in task
graphs that users wrote. `drawing/` makes pictures of them. Nothing here touches a file, a model or an environment.
"""
