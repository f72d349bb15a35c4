"""What evaluation functions may ask. Each module declares the checks of one subject; `declaration` is how,
`registry` finds them.

inputs        what was clicked and typed
screen        controls, rows of tables and lists, window, text in the picture
system        files, folders, clipboard
contents      whole texts, and copies of what was there at the start
records       rows, objects and elements inside files, and the tables and sections that hold them
drawings      shapes and texts of drawings
pictures      how a raster picture was made from another
archives      what was packed and unpacked
documents     what documents say, however they are laid out
since_start   what changed or was lost since the start
"""
