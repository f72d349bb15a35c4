"""What exports share.

exporting                                              writes an export: complete or absent
dataset_card                                           Hugging Face folders
judging/                                               tasks judged elsewhere by files
dialogues, exported_actions                            training records
paper_format                                           the paper's files
record_files                                           files, their names and hashes
"""
