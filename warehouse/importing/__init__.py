"""What imports share.

importing, items                           check every item, then store all or nothing
imported_tasks                             records from foreign items; `episodes` from demonstrations
json_reading, pyautogui_scripts            foreign formats
task_lists                                 formats without demonstrations, one function each
"""
