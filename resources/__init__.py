"""The catalogue as data, and the records it is read into.

catalog/                             the data: applications, categories, resource categories, scenarios,
                                     capabilities, worlds
reading/                             reads and checks the catalogue
applications, assets                 applications, and the files that belong to their entries
categories, instances                resource categories; resources; when an output is an input
scenarios                            scenarios
worlds                               consistent starting data
noise                                what an application changes by itself
dimensions, capability_presets       the one table of complexity dimensions; capabilities by their levels
record, errors                       base classes of all records and all errors
whole_files                          files that are there whole, or not at all
plugins                              lookup of what is chosen by name, built in or from another package
"""
