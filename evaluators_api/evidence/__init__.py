"""Evidence as the checks ask it.

evidence_view    what several checks need, worked out once
ocr              text in pictures, lazily
sandbox_paths    the paths that functions may write
starting_state   whether an attempt starts from what its subtask needs
"""
