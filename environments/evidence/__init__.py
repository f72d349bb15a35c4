"""What the checks read, collected the same way on every platform.

file_snapshot      the files of the home, and the members of archives as text
picture_text       text in pictures
application_files  databases, workbooks, journals, projects, wallets, bookmarks, playlists
unpacked_text      these, and documents of word processors, packed texts, PDF documents and pictures
"""
