"""What the checks read, collected the same way on every platform.

input_log          the inputs made
file_snapshot      the files of the home, and the members of archives as text
sqlite_text        databases as text
picture_text       text in pictures
application_files  files of single applications: workbooks, journals, projects, wallets, bookmarks, playlists
document_text      documents of word processors as lines
unpacked_text      these, and packed texts, PDF documents and pictures
"""
