"""The local web application, and the report, one self-contained HTML file (`report`).

`server` serves `pages/`, of other versions too, with templates and assets of the package. Reviews
are the only thing that it can write (`taskloom view --review`).

`website` is what every page needs, with a cache of results; `charts` draws bars, `bounded_queries` limits
a query's time and memory.
"""
