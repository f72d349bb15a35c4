"""The catalogue: what exists, as data, and the records it is read into.

`catalog/` holds the data: applications, categories, resource categories, scenarios, capabilities. `reading/` reads and
checks it. The modules beside them are its records, the root of all records (`record`), the root of all errors
(`errors`) and the table of complexity dimensions (`dimensions`).
"""
