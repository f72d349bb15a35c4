"""The catalogue as data, and its records.

catalog/                             the data: applications, categories, resource categories, scenarios,
                                     capabilities, worlds
reading/                             reads and checks the catalogue
applications, assets                 applications, and the files that belong to their entries
categories, instances                resource categories; resources, and which outputs meet which inputs
scenarios                            scenarios
worlds                               consistent starting data
noise                                changes that an application makes on its own
dimensions, capability_presets       the table of complexity dimensions; capabilities as constraints on levels
record, errors                       base classes of all records and all errors
whole_files                          atomic writing of files
plugins                              lookup of everything chosen by name, built in or from another package
"""
