"""The mathematics of task graphs.

complexity                 the five dimensions and the capabilities they test
cells                      which levels combine, and which few tasks have
per_dimension              constraints with a value per dimension
orders, interference       all orders, and those in which nothing is lost; equal tasks, interchangeable nodes
coherency                  how far an order can keep to one application
acceptance_rates           how often functions and the judge are right; what a critic thinks of tasks
variety_figures            how varied instructions are
"""
