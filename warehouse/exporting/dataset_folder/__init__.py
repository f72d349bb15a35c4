"""Dataset folders as the Hugging Face Hub has them.

dataset_card      the card, from a template
dataset_counts    what the card says of the tasks, counted while they go by
parquet_files     the rows, written as they come
"""
