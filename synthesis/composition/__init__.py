"""Task graphs with controlled complexity, without a model.

composition             the entry: fills the demand from the supply, without near-duplicates
request                 requests with their limits, and the account of what was composed
pool                    the bound instances, and which of them nobody would ask for together
goals                   the set that makes an intent's end products, or why there is none
groups, enumeration     groups of instances to enumerate, and all closed sets of a group
supply                  a store of closed sets by cell, with variants that need no replay
demand, taken_sets      the tasks still wanted, and the sets taken so far
building                task records
reasons                 why tasks are missing
"""
