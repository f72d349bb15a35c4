"""The server inside a machine. It runs with the machine's own Python and imports nothing else of taskloom.

__main__      starts it
http_server   answers over a Unix socket in a folder that the host mounts
desktop       one look at the desktop, one deed on it: what the own protocol offers
foreign       OSWorld's protocol over the same desktop, for other clients
accessibility asks applications for their control trees, by AT-SPI
trees         control trees
roles         numbers of AT-SPI, and the control types that stand for its roles
controls      trees as flat lists of controls
display       windows, pictures, stillness, by X11
inputs        pointer and keyboard, by XTEST
programs      starting and ending applications, and running commands
clipboard_keeper keeps what was copied when the application that owns it ends
mail          messages of mail folders, as text
evidence      files, settings, processes and the clipboard
"""
