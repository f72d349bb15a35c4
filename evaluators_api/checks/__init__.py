"""What evaluation functions may ask. Each module declares the checks of one subject; `declaration` is how,
`registry` finds them.

inputs        what was clicked and typed
screen        controls, window, text in the picture
rows          rows of tables and lists on the screen
system        files, folders, clipboard
contents      whole texts, and copies of what was there at the start
records       rows, objects and elements inside files, and the tables and sections that hold them
drawings      shapes and texts of drawings
pictures      how a raster picture was made from another
archives      what was packed and unpacked
documents     what documents say, however they are laid out
since_start   what changed or was lost since the start
"""
