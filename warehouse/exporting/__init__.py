"""What exports share.

exporting, files                                       writes an export: complete or absent
judging_sheets, machine_setup                          tasks judged by other programs, by files alone
recordings                                             what exports of recordings share
training_records                                       formats for training, a function each
"""
