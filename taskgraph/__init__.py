"""The records that travel between rooms, and the mathematics of task graphs.

records/         what travels
measures/        computes: complexity, orders, interference, coherency
reading/         takes in task graphs that users wrote
drawing/         makes pictures of them
bitmasks         the graph operations underneath
text_folding     when two texts are the same to a person
text_cutting     long texts that are kept in part
source_parsing   generated source as a syntax tree

Nothing here touches a file, a model or an environment.
"""
