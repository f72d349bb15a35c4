"""What the checks read, collected the same way on every platform.

input_log       the inputs made
file_snapshot   the files of the home
sqlite_text     databases as text
archive_listing the members of archives as text
"""
