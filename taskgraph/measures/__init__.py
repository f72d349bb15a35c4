"""The mathematics of task graphs.

complexity, cells          the five dimensions; which combinations of levels exist
per_dimension              constraints with a value per dimension
capabilities               which capabilities a task tests
orders, interference       all orders, and those in which nothing is lost
coherency, slot_runs       how far an order can keep to one application
canonical, symmetry        equal tasks, interchangeable nodes
inconsistencies            where edges and resources disagree
acceptance_rates           how often accepted functions judge rightly
judge_rates                how often the judge of instructions does
critic_scores              what a critic thinks of tasks on the whole
variety_figures            how varied instructions are
gaps                       levels and capabilities that few tasks have, and what each lacks
"""
