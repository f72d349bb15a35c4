"""What exports share.

exporting, files                                       write an export, complete or not at all
judging_sheets, machine_setup                          tasks that other programs judge by files alone
recordings                                             what exports of recordings share
training_records                                       training formats, one function each
"""
