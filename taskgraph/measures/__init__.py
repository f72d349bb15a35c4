"""The mathematics of task graphs.

complexity                 the five dimensions, and the capabilities that a task tests
cells                      possible combinations of levels, and those that few tasks have
per_dimension              constraints with a value per dimension
orders, interference       all orders, and those in which nothing is lost; equal tasks, interchangeable nodes
coherency                  the coherency score and its maximum
acceptance_rates           accuracy of functions and of the judge; scores of critics
variety_figures            variety of instructions
"""
