"""The store of all records: tables, queries, exports, imports and the viewer.

schema, records                            tables derived from records, and the warehouse's own records
field_codecs                               nested fields as columns
store                                      reading and writing
versions                                   how versions differ, which scores one invalidates, the counts
                                           that gates compare; removing what is no longer needed
task_quality                               quality of functions, judge and instructions
reviews                                    people's verdicts, and the tasks they accept
storage/                                   DuckLake and the database below it
queries/, views/, querying                 named queries, views, and running SQL
exports/, imports/                         one module per format, found by `lookup`
exporting/, importing/                     what formats share
sets/                                      divides tasks into sets and draws from them
viewer/                                    the local web application, and the report
"""
