"""What imports share.

importing, items                           checks every item, then stores all or nothing
imported_tasks                             records from foreign items; `episodes` from demonstrations
json_reading, pyautogui_scripts            foreign formats
task_lists                                 formats without demonstrations, a function each
"""
