"""What exports share.

exporting                                              writes an export: complete or absent
dataset_folder/                                        Hugging Face folders: card, rows, metadata
osworld/                                               OSWorld's judging and setup
judging/                                               tasks judged elsewhere by files
dialogues, action_words, exported_actions, pictures    training records
paper_format, task_dag                                 the paper's files
application_aliases, file_names                        names
record_files, file_hashes                              files and their hashes
"""
