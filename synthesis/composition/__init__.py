"""Task graphs with controlled complexity, without a model.

composition                        the entry; `request` says what is asked and answered
binding, pool_instances, compiled_pool
                                   bound instances of a pool, then as numbers and bitmasks
groups, enumeration                what is worth enumerating, and all closed sets of it; `width_matching` measures their width
sense, exclusions                  what nobody would ask for together
supply, variety, choice            sets in store by cell, and which of them become tasks
demand                             what is still wanted
composer                           fills the demand from the supply
building, twins                    task records, and their chain twins
reasons                            why tasks are missing
"""
