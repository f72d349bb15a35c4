"""Whether a function tells right from wrong.

examination      the cases, mutants of the function and the kill matrix; `verdict` accepts or rejects
subject          what is examined
altered_work     wrong and right work made from the recording
other_work       other wrong work
other_content    other content at the start
"""
