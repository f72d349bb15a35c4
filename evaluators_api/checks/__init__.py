"""What evaluation functions may ask. Each module declares the checks of one subject; `declaration` is how, `registry` finds them.

inputs        what was clicked and typed
screen        controls, window, text in the picture
system        files, folders, clipboard
contents      whole texts, and copies of what was there at the start
records       rows, objects and elements inside files
since_start   what changed or was lost since the start
unchanged     that everything else is as it was
"""
