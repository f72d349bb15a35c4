"""What the checks read, collected the same way on every platform.

file_snapshot      the files of the home, and lists of the members of archives
picture_text       text in pictures
application_files  databases, workbooks, journals, projects, wallets, bookmarks, playlists
unpacked_text      text of these, of word processor and PDF documents, compressed texts and pictures
"""
