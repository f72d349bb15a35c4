"""The viewer's pages; each module has `add_pages(application, site)`, or serves those that have.

dataset_pages                    overview, complexity with its grid of levels, costs
task_list, task_pages            tasks; `task_words` says what they are called
subtask_pages                    subtasks and trajectories; `strips` shows a trajectory step by step
experiment_pages                 attempts of agents, leaderboards, agents side by side, attempts step by step
play_pages                       a person plays
model_call_pages                 the model calls behind an item, and what was said in one
review_pages                     people accept and reject tasks
compare_page                     two versions side by side
sql_page                         asks SQL; answers and tasks as files
"""
