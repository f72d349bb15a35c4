"""Dataset folders as the Hugging Face Hub has them.

dataset_card      the card, from a template and what is counted of the tasks
parquet_files     the rows, written as they come
"""
