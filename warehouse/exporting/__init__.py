"""What exports share.

exporting                                              writes an export: complete or absent
dialogues, action_words, exported_actions, pictures    training records
paper_format, task_dag                                 the paper's files
osworld_conditions, osworld_metrics, osworld_setup     OSWorld's
application_aliases, file_names, record_files          names and files
dataset_card                                           the card of a Hugging Face folder
"""
