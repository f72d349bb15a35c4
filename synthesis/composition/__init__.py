"""Task graphs with controlled complexity, without a model.

composition                        the entry: fills the demand from the supply, without near-duplicates;
                                   `request` says what is asked and answered, and what sets must keep to
pool                               the shelf of bound instances, and what makes no sense together
goals                              the set that an intent's end products need, or why there is none
groups, enumeration                what is worth enumerating, and all closed sets of it
supply                             closed sets in store by cell, and what a replay of a set shows besides
demand, taken                      what is still wanted, and what was taken
building                           task records
reasons                            why tasks are missing
"""
