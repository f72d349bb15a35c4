"""What exports share.

exporting                                              writes an export: complete or absent
dataset_card                                           Hugging Face folders
judging_sheets, machine_setup                          tasks judged elsewhere, by files alone
dialogues, exported_actions                            training records
paper_format                                           the paper's files
record_files                                           files, their names and hashes
"""
