"""Task graphs with controlled complexity, without a model.

composition                        the entry; `request` says what is asked and answered, and what sets must
                                   keep to
pool                               the shelf of bound instances, and what makes no sense together
goals                              the set that an intent's end products need, or why there is none
groups, enumeration                what is worth enumerating, and all closed sets of it
supply                             varied sets in store by cell
demand                             what is still wanted
composer                           fills the demand from the supply, without near-duplicates
building, twins                    task records, and their chain twins
reasons                            why tasks are missing
"""
