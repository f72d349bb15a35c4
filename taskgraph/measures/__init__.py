"""The mathematics of task graphs.

complexity, cells          the five dimensions and the capabilities they test; which levels combine
per_dimension              constraints with a value per dimension
orders, interference       all orders, and those in which nothing is lost
coherency                  how far an order can keep to one application
symmetry                   equal tasks, interchangeable nodes
inconsistencies            where edges and resources disagree
acceptance_rates           how often accepted functions, and the judge of instructions, are right
critic_scores              what a critic thinks of tasks on the whole
variety_figures            how varied instructions are
gaps                       levels and capabilities that few tasks have, and what each lacks
"""
