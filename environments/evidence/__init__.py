"""What the checks read, collected the same way on every platform.

input_log       the inputs made
file_snapshot   the files of the home, and the members of archives as text
sqlite_text     databases as text
picture_text    text in pictures
workbook_text   workbooks as comma-separated values
journal_text    journals as JSON
project_text    projects as JSON
wallet_text     wallets as JSON
bookmarks_text  bookmarks of a browser as JSON
playlist_text   playlists as lines
document_text   documents of word processors as lines
unpacked_text   these, and packed texts, PDF documents and pictures
"""
