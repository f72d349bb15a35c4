"""Task graphs with controlled complexity, without a model.

composition                        the entry; `request` says what is asked and answered, `limits` what sets
                                   must keep to
pool                               the shelf of bound instances, and what makes no sense together
groups, enumeration                what is worth enumerating, and all closed sets of it; `width_matching`
                                   measures their width
supply, variety, choice            sets in store by cell, and which of them become tasks
demand                             what is still wanted
composer                           fills the demand from the supply
building, twins                    task records, and their chain twins
reasons                            why tasks are missing
"""
