"""The viewer's pages; each module has `add_pages(application, site)`.

dataset_pages     overview, complexity with its grid of levels, costs, two versions side by side
task_pages        tasks
subtask_pages     subtasks
experiment_pages  attempts of agents, leaderboards, agents side by side, attempts step by step
play_pages        a person plays
recording_pages   a trajectory step by step, and the messages of a model call
review_pages      people accept and reject tasks
sql_page          SQL queries; results and tasks as files
"""
