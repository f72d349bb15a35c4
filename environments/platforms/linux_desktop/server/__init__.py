"""The server inside a machine. It runs with the machine's own Python and imports nothing else of taskloom.

http_server   answers over a Unix socket in a folder that the host mounts
desktop       one look at the desktop, one deed on it: what the own protocol offers
foreign       OSWorld's protocol over the same desktop, for other clients
accessibility asks applications for their control trees, by AT-SPI
trees         control trees, and the numbers of AT-SPI
controls      trees as flat lists of controls
display       windows, pictures, stillness, by X11
inputs        pointer and keyboard, by XTEST
programs      starting and ending applications, and running commands
clipboard_keeper keeps what was copied when the application that owns it ends
evidence      files, settings, processes, the clipboard, and messages of mail folders
"""
