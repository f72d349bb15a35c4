"""What evaluation functions may ask. Each module declares the checks of one subject, with `declaration`,
which also finds them.

screen        what was clicked and typed; controls, rows of tables and lists, window, text in the picture
system        files, folders, clipboard, and what changed or was lost since the start
contents      whole texts, and copies of what existed at the start; archives packed and unpacked
records       rows, objects and elements inside files, and the tables and sections that hold them
pictures      shapes and texts of drawings; how a raster picture was made from another
documents     the text of documents, whatever their layout
"""
