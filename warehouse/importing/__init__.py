"""What imports share.

importing, items                           checks every item, then stores all or nothing
imported_tasks, imported_trajectories      records from foreign items; `episodes` from demonstrations
json_reading, pyautogui_scripts            foreign formats
task_lists                                 formats without demonstrations, a function each
instruction_lists                          what others have published, to compare with
"""
