"""The records that packages exchange, and the mathematics of task graphs.

records/         the records
measures/        complexity, orders, interference, coherency
reading/         reads task graphs that users wrote
drawing          draws task graphs
bitmasks         graph operations on bitmasks
text_folding     normal form of texts that look the same; shortens long texts

Nothing here touches a file, a model or an environment.
"""
