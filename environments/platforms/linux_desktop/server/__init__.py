"""The server inside a machine. It runs with the machine's own Python and imports nothing else of taskloom.

http_server   answers over a Unix socket in a folder that the host mounts
desktop       observations and inputs: the operations of taskloom's own protocol
foreign       OSWorld's protocol over the same desktop, for other clients
accessibility reads the control trees of applications, by AT-SPI
trees         control trees, and the constants of AT-SPI
controls      trees as flat lists of controls
display       windows, pictures, and waiting for drawing to end, by X11
inputs        pointer and keyboard, by XTEST
programs      starts and ends applications, and runs commands
clipboard_keeper keeps the clipboard when the application that owns it ends
evidence      files, settings, processes, the clipboard, and messages of mail folders
"""
