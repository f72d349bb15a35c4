"""The public Python interface: what `import taskloom` offers, over the other packages.

dataset                what is stored: tasks, recordings, SQL, exports
task_environment       a task in its environment: reset, step, judge
runs                   builds, evaluations of agents, scores
"""
