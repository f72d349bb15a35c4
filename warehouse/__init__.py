"""What is kept, and every way to ask for it.

schema, records                            tables derived from records, and the warehouse's own records
field_codecs                               nested fields as columns
store, maintenance                         reads and writes; clears what is no longer needed
publication, versions                      what is written down with a version, and what changed between two
version_figures                            counts of a version that gates compare
night_records                              what nights decide
score_validity                             which scores a version makes invalid
error_rates, task_quality                  how good functions, judge and instructions are
reviews                                    what people say of tasks, and the tasks that they accept
data_model_page                            writes docs/data-model.md
storage/                                   DuckLake underneath
queries/, views/, querying/                SQL files, and questions in SQL
exports/, imports/                         one module per format, found by `lookup`
exporting/, importing/                     what formats share
sets/                                      divides and draws
viewer/                                    the local web application, and the report
"""
