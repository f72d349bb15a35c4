"""Evidence as the checks read it.

evidence_view    evidence indexed for the checks
ocr              text in pictures, lazily
sandbox_paths    the paths that functions may write
starting_state   whether an attempt starts from what its subtask needs
"""
